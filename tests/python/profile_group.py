# SPDX-License-Identifier: Apache-2.0
"""profile_group.py FILE SIGNAL CMD...: starts CMD in a process group of its own, as a shell with a
terminal does, sends SIGNAL to all of the group once FILE is there, and ends as CMD ended."""

import os
import signal
import subprocess
import sys
import time


def default_signals():
    # A shell without a terminal has its background ignore it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.setpgid(0, 0)


path, name = sys.argv[1:3]
child = subprocess.Popen(sys.argv[3:], preexec_fn=default_signals)
while not os.path.exists(path):
    if child.poll() is not None:
        sys.exit("it ended before there was %s" % path)
    time.sleep(0.01)
os.killpg(child.pid, getattr(signal, name))
status = child.wait()
sys.exit(status if status >= 0 else 128 - status)
