# SPDX-License-Identifier: Apache-2.0
# c0716: PyTorch's DataLoader over folders of pictures and of tensors: the same
# values with the cache as without it, however its workers are started, and
# every worker's opens are counted, each as what it was.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/compat.sh"
need_hub

# Debian's, wherever another Python stands first.
torch_python=/usr/bin/python3
[ -x $torch_python ] || skip "there is no $torch_python"
# To import them takes seconds.
for module in torch torchvision; do
	$torch_python -c 'import importlib.util, sys
sys.exit(importlib.util.find_spec(sys.argv[1]) is None)' $module ||
	    skip "$torch_python has no module $module"
done

pictures=24 tensors=6
export tensors
run "$destall" gen -n $pictures --size 160x120 --classes 2 "$work/pictures"
expect_status 0

cat > "$work/train.py" << 'END'
import collections, hashlib, json, os, sys, warnings
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import DatasetFolder, ImageFolder
from torchvision.transforms import ToTensor

TENSORS = int(os.environ["tensors"])

# More workers than processors are what we want here.
warnings.filterwarnings("ignore")

class WithPid(torch.utils.data.Dataset):
    """A data set whose samples tell which process has opened them."""
    def __init__(self, inner):
        self.inner = inner
    def __len__(self):
        return len(self.inner)
    def __getitem__(self, i):
        return self.inner[i] + (os.getpid(),)

def digest(*tensors):
    h = hashlib.sha256()
    for t in tensors:
        h.update(t.numpy().tobytes())
    return int.from_bytes(h.digest()[:7], "big")

def train(name, data, opens, epochs, **how):
    torch.manual_seed(11)
    loader = DataLoader(WithPid(data), batch_size=4, shuffle=True, **how)
    for epoch in range(epochs):
        # Sorted: with DESTALL=1 the order is that of jobs that share.
        seen = []
        for values, labels, pids in loader:
            seen += [digest(v, l) for v, l in zip(values, labels)]
            opens.update(pids.tolist())
        print(name, epoch, digest(torch.tensor(sorted(seen))))

def save_tensors(folder, nr):
    os.makedirs(folder)
    for i in range(nr):
        torch.save(torch.arange(1000.) + i, "%s/%d.pt" % (folder, i))

# Workers that are spawned import everything anew, which takes seconds: spawn and
# forkserver are "fork" where they need not be tried.  The values are the same.
def main(pictures, tensors, counts, spawn, forkserver):
    torch.set_num_threads(1)
    if not os.path.exists(tensors):
        save_tensors(tensors + "/one", TENSORS)
    opens = collections.Counter()
    data = ImageFolder(pictures, ToTensor())
    train("none", data, opens, 2)
    for workers in 2, 4:
        train("fork", data, opens, 2, num_workers=workers,
              multiprocessing_context="fork")
        train("fork, kept", data, opens, 3, num_workers=workers,
              multiprocessing_context="fork", persistent_workers=True)
    train("spawn", data, opens, 2, num_workers=2,
          multiprocessing_context=spawn, persistent_workers=True)
    train("forkserver", data, opens, 2, num_workers=2,
          multiprocessing_context=forkserver, persistent_workers=True)
    data = DatasetFolder(tensors, torch.load, (".pt",))
    train("tensors", data, opens, 3, num_workers=2)
    with open(counts, "w") as f:
        json.dump(opens, f)

if __name__ == "__main__":
    main(*sys.argv[1:])
END
# train SPAWN FORKSERVER CMD...: the job, behind CMD.
train() {
	contexts="$1 $2"
	shift 2
	run bounded "$@" $torch_python "$work/train.py" "$work/pictures" \
	    "$work/tensors" "$work/opens.json" $contexts
	expect_status 0
}

# expect_counts MISSES: by every process that PyTorch names as many opens as it
# made; no other process has any; and so many of all were no hits.
expect_counts() {
	"$destall" cache stat --json > "$work/state.json" || fail "no statistics"
	"$PYTHON" -c '
import collections, json, sys
doc = json.load(open(sys.argv[1]))
want = {int(p): n for p, n in json.load(open(sys.argv[2])).items()}
got = collections.Counter()
for j in doc["jobs"]:
    got[j["pid"]] += j["hits"] + j["misses"]
got = {p: n for p, n in got.items() if n > 0}
assert got == want, (got, want)
assert len(want) >= 1 + 4 + 2 + 8 + 4 + 2 + 2 + 6, want
misses = sum(d["misses"] for d in doc["datasets"])
assert misses == int(sys.argv[3]), misses
' "$work/state.json" "$work/opens.json" "$1" 2> "$work/err" || fail "their counts"
}

train fork fork env
expect_no_err
mv "$work/out" "$work/plain"

# expect_lines N: so many on standard error, beside those of the loaders that are
# ready to share with other jobs (tests/p0801-python-sharing.sh).
expect_lines() {
	grep -vE '^destall: (loader [0-9]+ |nothing was saved)' "$work/err" > "$work/lines" || :
	[ "$(wc -l < "$work/lines")" -eq "$1" ] || fail "not exactly $1 lines on standard error"
}

# One line of each root and one at the end; none of the object's.
total=$((pictures * 16 + tensors * 3)) cold=$((pictures + tensors))
train spawn forkserver "$destall" run --data "$work/pictures" --data "$work/tensors" --
cmp "$work/plain" "$work/out" || fail "other values than without destall"
expect_err "^destall: run: $((total - cold)) of $total opens from the cache;"
expect_lines 3
expect_counts $cold
stop_hub

# By the environment, and nothing else is said.
train fork fork sh -c '
	eval "$("$0" env --data "$1" --data "$2" 2> /dev/null)"
	shift 2
	DESTALL=1 exec "$@"' "$destall" "$work/pictures" "$work/tensors"
cmp "$work/plain" "$work/out" || fail "env: other values than without destall"
expect_lines 0
expect_counts $cold
stop_hub
