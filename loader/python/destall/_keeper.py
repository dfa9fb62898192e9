# SPDX-License-Identifier: Apache-2.0
"""Somebody who has a job's data sets listed, and keeps them in use at the hub for
as long as the job lives: `destall run`, around a shell that waits for the job's
end.

To list a million files takes seconds.  The job must not wait for that, and a
thread that did it would be a danger to the workers that are forked meanwhile.
So it is a process; it is no child of the job (who may wait for all of its own),
has nothing of it but a pipe, and ends when the last who has the other end does.
"""

import os
import select
import subprocess
import time

# The first shell is gone at once.  The last begins when all is listed, or when there is no cache
# to be had: then it has no name of a job.
_START = 'exec 3<&0; "$@" <&3 3<&- &'
_LISTED = b"listed\n"
_PLAIN = ": the job runs without the cache"
_WAIT = '[ -n "${DESTALL_JOB-}" ] && echo listed && read -r _'


class Keeper:
    """Of some roots, from now on."""

    def __init__(self, program, roots):
        self.text = b""         # what it said
        self.is_listed = self.is_gone = False
        self._pid = os.getpid()
        of_job, self._alive = os.pipe()
        self._said, of_keeper = os.pipe()
        try:
            self._start(program, roots, of_job, of_keeper)
        except BaseException:
            self.close()
            raise
        finally:
            os.close(of_job)
            os.close(of_keeper)

    def _start(self, program, roots, stdin, stdout):
        command = [program, "run", *("--data=" + root for root in roots), "--",
                   "/bin/sh", "-c", _WAIT]
        env = {**os.environ, "DESTALL": "1", "DESTALL_LOG": "quiet"}
        env.pop("DESTALL_JOB", None)
        subprocess.run(["/bin/sh", "-c", _START, "sh", *command], stdin=stdin, stdout=stdout,
                       stderr=stdout, start_new_session=True, check=True, env=env)

    def close(self):
        for fd in (self._alive, self._said):
            os.close(fd)
        self.is_gone = True

    def look(self, patience_s=0.0):
        """Has it listed?  Waits for that, a while."""
        until = time.monotonic() + patience_s
        # A forked child would take its parent's words.
        while not self.is_listed and not self.is_gone and self._pid == os.getpid():
            poll = select.poll()
            poll.register(self._said, select.POLLIN)
            if not poll.poll(max(0, until - time.monotonic()) * 1000):
                break
            self._read()
        return self.is_listed

    def _read(self):
        try:
            text = os.read(self._said, 4096)
        except OSError:
            text = b""          # the job has closed all that it did not know
        self.text += text
        self.is_listed = self.text.endswith(_LISTED)
        self.is_gone = not text

    @property
    def why_not(self):
        """Its first line, if it had reason to say one."""
        lines = self.text.decode(errors="replace").splitlines()
        if not lines or lines[0] == "listed":
            return "destall run has ended" if self.is_gone and not self.is_listed else None
        return lines[0].replace("destall: run: ", "", 1).replace(_PLAIN, "", 1)
