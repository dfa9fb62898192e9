# SPDX-License-Identifier: Apache-2.0
"""What destall says in a job: one line at a time, on standard error, never a
reason to fail."""

import os
import sys


def say(text, *values):
    try:
        sys.stderr.write("destall: %s\n" % (text % values if values else text))
        sys.stderr.flush()
    except Exception:
        pass            # closed, full, gone: the job goes on


def note(text, *values):
    """What is good to know, and can be switched off."""
    if os.environ.get("DESTALL_LOG") != "quiet":
        say(text, *values)
