# SPDX-License-Identifier: Apache-2.0
"""A job that goes through all cases, or some, and writes what it saw:

    behaviour_job.py OUT [CASE/WORKERS...]
"""

import sys

import cases
import cases_batches                    # noqa: F401
import cases_loops                      # noqa: F401
import cases_workers                    # noqa: F401

from jobside import counts, write

if __name__ == "__main__":
    write(sys.argv[1], {"cases": cases.run_all(sys.argv[2:]), "counts": counts()})
