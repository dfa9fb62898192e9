# SPDX-License-Identifier: Apache-2.0
"""Is the next batch of an iterator of PyTorch's there already?  Runs in the main process of a
job that is profiled."""

import select


class Ready:
    """Asked for every batch, so a queue of processes is asked by its descriptor: its own empty()
    makes a selector each time.  The iterator is not held: its workers end with it."""

    def __init__(self, iterator):
        self._poll = None
        reader = getattr(iterator._data_queue, "_reader", None) if iterator._num_workers else None
        if reader is not None:
            self._poll = select.poll()
            self._poll.register(reader.fileno(), select.POLLIN)

    def is_there(self, iterator):
        if not iterator._num_workers:
            return False
        known = iterator._task_info.get(iterator._rcvd_idx)
        if known is None and getattr(iterator, "_in_order", True):
            return False
        if known is not None and len(known) == 2:
            return True
        return bool(self._poll.poll(0)) if self._poll else not iterator._data_queue.empty()
