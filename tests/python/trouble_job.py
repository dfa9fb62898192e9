# SPDX-License-Identifier: Apache-2.0
"""A job that gets into trouble, of the kind that its name and argument say:

    trouble_job.py OUT NAME bad|wait|hang WORKERS

bad: the job named `bad` cannot make sample 41.  wait: the one named `idle` does
not take anything until the other has had all.  hang: making sample 41 does not
end.
"""

import os
import sys
import threading

import torch

from torch.utils.data import DataLoader, Dataset

from jobside import each, meet, write

NAME = sys.argv[2]


class Bad(Dataset):
    count = 80

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        # Nothing of this is told by the dataset's state.
        if i == 41 and os.path.basename(sys.argv[2]) == "bad":
            raise ValueError("bad here")
        return i


class Short(Bad):
    count = 48


class Hanging(Bad):
    def __getitem__(self, i):
        if i == 41:
            open(os.path.join(os.environ["FOLDER"], sys.argv[2] + ".waits"), "w").close()
            threading.Event().wait()
        return i


def steps(loader):
    it, given = iter(loader), []
    while True:
        try:
            given.append(next(it).tolist())
        except StopIteration:
            return given
        except ValueError as e:
            given.append(type(e).__name__)
        if len(given) == 1:
            meet("begun")


def wait(loader):
    it = iter(loader)
    given = [next(it).tolist()]
    meet("begun")
    if NAME == "idle":
        meet("over")
    given += [b.tolist() for b in it]
    if NAME != "idle":
        meet("over")
    return given


def main(out, _, what, workers):
    o = {"num_workers": int(workers)}
    meet("ready")
    if what == "bad":
        given = steps(DataLoader(Bad(), 4, **o))
    elif what == "wait":
        given = wait(DataLoader(Short(), 4, timeout=5, **o))
    else:
        given = [b.tolist() for b in each(DataLoader(Hanging(), 4, **o), "begun")]
    write(out, {"given": given})


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(*sys.argv[1:])
