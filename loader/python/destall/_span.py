# SPDX-License-Identifier: Apache-2.0
"""What epochs of map-style and of iterable datasets have in common: which one it is
to be, how far the job has come, and when it counts as had.  Runs in the main
process of a job.

An epoch counts when its last batch was delivered, whether or not the program asks
for one more: who counts batches never does.  One that is dropped before does not
count.
"""

import collections

from . import _job, _stream


class Span:
    number = seed = is_drawn = None     # once it is opened
    first = 0                           # the batch that it begins with

    def __init__(self, shared, nth):
        self.shared, self.nth = shared, nth
        self.explicit = shared.explicit_seed(nth)
        self.past = _job.past(shared.job, shared.mark, nth, shared.seeded_by(self.explicit))
        self.resumed = shared.take_resumed()
        self.expected = shared.order.expected()
        self.set_to = shared.order.set_epoch    # what set_epoch() has said
        self.sent = collections.deque()         # tickets that nothing has come of yet
        self.delivered = 0
        self.is_noted = self.is_counted = False

    def wish(self, at):
        """For the stage; at: the unit, or any."""
        shared, saved = self.shared, self.resumed
        if saved is not None:
            return _stream.Wish(saved["seed"], saved["is_drawn"], saved["epoch"], at)
        epoch = shared.told_epoch(self.set_to)
        if epoch is None and self.explicit is not None:
            epoch = max(shared.record.ended, self.past.next)
        return _stream.Wish(self.explicit, False, epoch, at)

    def saved(self):
        """Where it is, as its main process has had it."""
        return {"seed": self.seed, "is_drawn": self.is_drawn, "epoch": self.number,
                "first": self.first, "delivered": self.delivered, **self.shared.saved_ledger()}

    def note_delivered(self):
        self.delivered += 1
        if self.expected is not None and self.delivered >= self.expected:
            self.count()

    def note(self):
        """All its tickets are out, or more: what is begun now is the next."""
        if not self.is_noted:
            self.is_noted = True
            self.shared.noted += 1
            self.shared.record.last_set = self.set_to
            self.past.note(self.seed, self.number)

    def count(self):
        """The job has had all of it."""
        if not self.is_counted:
            self.is_counted = True
            self.note()
            self.shared.record.ended = self.number + 1
            self.shared.finish_ledger(self.number)

    def finish(self):
        self.count()
        self.close()
