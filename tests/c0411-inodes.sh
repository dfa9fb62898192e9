# SPDX-License-Identifier: Apache-2.0
# c0411: what programs that know nothing of the cache need of it, at a real hub
# (tests/harness/raw.c): items are found by inodes, a set is opened as it was
# listed last, and opens that were left to the kernel are told.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cachecmd.sh"
. "$top_srcdir/tests/faults.sh"

# raw HOW LINE...: prints exactly these lines.
raw() {
	how=$1
	shift
	run bounded "$(harness raw)" "$how"
	expect_status 0
	for line in "$@"; do echo "$line"; done > want
	cmp -s want "$work/out" || fail "$how: not: $(cat want)"
}

# From the first listing until it is forgotten; a quarter of the ceiling, or of
# a share of a quarter of 64 MiB.
start_hub --cache 128M
raw inodes '5000 files of 5000' 'empty: none, not found' \
    'ready: mode 1400, found' '5000 files of 5000' \
    'taken over: mode 1400, found' 'forgotten: none, not found' \
    'anew, the old: mode 1400, another, not found' \
    'anew: mode 1400, found' '0 members of 5000, 0 slots' \
    'large: 33554432' 'large: 4194304'
stop_hub

# What is not whole yet is not opened, and nobody lists as "any".
start_hub --cache 256M
for round in 1 2 3; do
	raw current 'not listed yet' 'the same' 'the last is ready' expelled
	await "$destall" cache drop /set 2> /dev/null
done
stop_hub

start_hub --cache 64M
raw passed
run "$destall" cache stat
expect_status 0
expect_out '^ +left to the kernel: 12 opens of random-access containers \(HDF5, LMDB, SQLite, Parquet, tar\), 3 of large files, 1 of changed files$'
expect_out '^ +left to the kernel: 1 open of large files$'
check_json '
keys = ("passed_containers", "passed_large", "passed_changed")
got = {s["root"]: tuple(s[k] for k in keys) for s in d["datasets"]}
assert got == {"/set": (12, 3, 1), "/other": (0, 1, 0)}, got
'
stop_hub
