# SPDX-License-Identifier: Apache-2.0
"""A job's place at a pass: what it takes from there, and on what terms.  Runs in
the main process of a job.

Nothing of another job's is delivered before one unit of it, or of one that has
proved to make the same, was made here, too, and was the same (_trust.py).  Nothing
is made for others before that, but by one with which others compare: who is there
alone; or, of several who come at the same time, or whose maker is gone, who is the
first to make what it wants itself.
"""

import functools
import os
import time

from . import _lib, _payload, _same, _seeds, _worker
from ._say import say

_SLICE_MS = 50          # of a wait: then signals are looked at
_ASK_S = 0.25           # that it waits, before a worker is asked once more; then twice that
_PATIENCE_S = 2.0       # before it has it made for itself,
_PATIENCE_TIMES = 8     # and as many times as making a batch takes;
_PATIENCE_NEW_S = 0.05  # of one that is not proven

SELF = "self"           # it is to be made here
LATE = "late"           # it does not come


@functools.lru_cache(maxsize=1)
def _audit_share(text):
    try:
        share = float(text or 0)
        if 0 <= share <= 1:
            return share
    except ValueError:
        pass
    say("DESTALL_AUDIT=%s is no fraction such as 0.01: nothing is audited", text)
    return 0.0


class Place:
    def __init__(self, shared, opened):
        self.shared, self.opened = shared, opened
        self.trust = shared.trust
        self.at = opened.at
        self.may_begin = opened.info.jobs == 0  # nobody was there when it came, or makes anything
        self.start = None               # the unit from which on it is a member
        self.is_member = self.is_over = False
        self.company = 0                # jobs that were there, at most, when it looked

    # --- coming and going ---

    def begin(self, unit, end, or_near=False):
        """Where it begins: there, or else near the others, if it may.  None: that has been made and
        is gone, or there is no hub any more."""
        try:
            start = self.at.begin(unit, end)
            if start is None and or_near:
                start = self.at.begin(_lib.ANY, end)
        except _lib.Failed as e:
            self.leave("alone: %s" % e.strerror)
            return None
        if start is None:
            self.shared.record.tell("alone until it has caught up with the others%s" % (
                "; DESTALL_SEED=share would let it join them where they are"
                if self.shared.order.is_random else ""))
            return None
        self.start, self.is_member = start, True
        self.look_around()
        return start

    def leave(self, why, for_good=False):
        self.shared.record.tell(why)
        if for_good:
            self.shared.alone = why
        self.end()

    def end(self):
        """For this epoch."""
        self.is_over = True
        if self.is_member:
            self.is_member = False
            self.at.end()

    def close(self):
        self.is_member, self.is_over = False, True
        self.opened.close()

    # --- who may make for whom ---

    @property
    def feeds(self):
        """What its workers may make for others."""
        if self.trust.may_feed:
            return _worker.FEEDS_ALL
        return _worker.FEEDS_WANTED if self.may_begin else None

    def note_made(self):
        """A worker has made a unit for others."""
        if self.is_member:
            self.trust.is_first = True

    def look_around(self):
        if not self.is_member:
            return
        jobs = self.at.jobs
        self.company = max(self.company, jobs)
        if jobs <= 1:
            self.trust.is_first = True
        self.shared.record.tell_jobs(jobs)

    # --- taking ---

    def patience(self, has_room):
        """How long it waits for a unit, before it has it made for itself.  Not long where the stage
        is full, or where the program has set a time-out: waiting for others must not trip it."""
        if self.feeds != _worker.FEEDS_ALL:
            self.look_around()
        if self.feeds != _worker.FEEDS_ALL or not has_room:
            return _PATIENCE_NEW_S
        longest = _PATIENCE_S + _PATIENCE_TIMES * self.shared.make_s
        timeout = self.shared.loader.timeout
        return min(longest, timeout / 4) if timeout > 0 else longest

    def take(self, unit, since, tries, has_room=True):
        """What was taken; SELF; or LATE: a worker of ours may be asked once more, for another's may
        be gone.  since: when it began to wait for it; tries: how often one was asked."""
        until = min(since + _ASK_S * 2**tries, since + self.patience(has_room))
        while self.is_member:
            try:
                rc, taken = self.at.take(unit, _SLICE_MS)
            except _lib.Failed as e:
                self.leave("alone: %s" % e.strerror)
                break
            if rc == _lib.TAKEN:
                return taken
            if rc == _lib.TAKE_DETACHED:
                self.leave("alone until its next epoch: it was too slow for the others")
            elif rc == _lib.TAKE_SELF:
                break
            elif time.monotonic() > until:
                self.look_around()
                if time.monotonic() - since <= self.patience(has_room):
                    return LATE
                self.may_begin = True
                break
        return SELF

    def skip(self, unit):
        """It was made here."""
        if self.is_member and unit >= self.start:
            self.at.skip(unit)

    def accept(self, taken, want):
        """Its batch, if it is of what this job has there; else None, and the job has left."""
        if taken.hash != want:
            self.opened.stream.stage.release(taken)
            self.leave("alone: unit %d of epoch %d is not of the samples that this job has there"
                       % (taken.unit, self.at.info.epoch), for_good=True)
            return None
        self.company = max(self.company, self.at.jobs)
        self.shared.note_bytes(taken.len)
        try:
            return self.opened.stream.take_over(taken)
        except _payload.NotShareable as e:
            self.leave("alone: what another job made cannot be read here: %s" % e, for_good=True)
            return None

    def must_compare(self, taken):
        return not self.trust.has(taken) or \
            not taken.is_own and self._is_audited(taken.unit)

    def _is_audited(self, unit):
        share = _audit_share(os.environ.get("DESTALL_AUDIT"))
        return share > 0 and \
            _seeds.derive(b"audit", self.at.info.epoch, unit) % 2**32 < share * 2**32

    def compare(self, taken, staged, made):
        """Is what another made what this job makes?  If not, it has left."""
        self.shared.record.counts["compared"] += 1
        difference = _same.find_difference(staged, made)
        if difference is None:
            self.trust.note_same(taken)
            return True
        self.leave("alone: what another job made is not what this job makes: %s" % difference,
                   for_good=True)
        return False
