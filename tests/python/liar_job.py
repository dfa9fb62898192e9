# SPDX-License-Identifier: Apache-2.0
"""A job whose dataset, from the third batch on that a process makes, adds what
is the job's own:

    liar_job.py OUT OWN
"""

import os
import sys

import torch

from torch.utils.data import DataLoader, Dataset

from jobside import each, write


class Liar(Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, i):
        # Nobody who looks at the dataset can find these.
        made = int(os.environ.get("MADE", "0"))
        os.environ["MADE"] = str(made + 1)
        lie = 1000 * (int(os.environ["LIAR"]) + 1) if made >= 8 else 0
        return torch.tensor([i, i + lie])


def main(out, own):
    os.environ["LIAR"] = own
    torch.manual_seed(3)
    loader = DataLoader(Liar(), 4)
    write(out, {"given": [b.tolist() for b in each(loader, "begun")]})


if __name__ == "__main__":
    main(*sys.argv[1:])
