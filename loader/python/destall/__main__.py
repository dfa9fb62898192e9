# SPDX-License-Identifier: Apache-2.0
"""python -m destall: the program of this environment, else the one on PATH."""

import os
import shutil
import sys
import sysconfig


def _find():
    beside = os.path.join(sysconfig.get_path("scripts"), "destall")
    return beside if os.access(beside, os.X_OK) else shutil.which("destall")


program = _find()
if program is None:
    sys.exit("destall: the program is neither in this environment nor on PATH")
os.execv(program, ["destall"] + sys.argv[1:])
