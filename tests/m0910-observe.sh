# SPDX-License-Identifier: Apache-2.0
# m0910: what the observers of a profile see of a command on this machine, and
# of the hub that it uses.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/run.sh"

observing=$(harness observing)

# value SOURCE NAME: as it was printed, or nothing.
value() { awk -v s="$1" -v n="$2" '$1 == s && $2 == n { print $4 }' "$work/out"; }

# is SOURCE NAME NUMBER
is() { [ "$(value "$1" "$2")" = "$3" ] || fail "$1 $2 is not $3"; }

# above SOURCE NAME NUMBER
above() { [ "$(value "$1" "$2")" -gt "$3" ] || fail "$1 $2 is not above $3"; }

make_data data 10

#--- a command ---------------------------------------------------------------

burn='i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'
run "$observing" data sh -c "$burn; cat data/a/0 > copy; read -r word < data/a/2 || :"
expect_status 0
above phase time 0
above proc main.cpu_user 0
above proc main.rss.max 0
[ -z "$(value proc workers.cpu_user)" ] || fail "there is a worker"
[ -z "$(value hub cache_hits)" ] || fail "there is a hub"
# At most one line for each observer that is missing.
sed -n 's/^confession: [a-z ]*: \([^:]*\):.*/\1/p' "$work/out" | sort | uniq -d > twice
[ ! -s twice ] || fail "confessed twice: $(cat twice)"

#--- the cache's counters ----------------------------------------------------

start_hub
read_all() { run "$observing" data env DESTALL_LOG=quiet "$destall" run --data data sh -c 'cat data/*/*'; }
read_all
expect_status 0
is hub cache_misses 10
is hub cache_hits 0
is hub storage_read 10000
is hub stage_made 0
read_all
is hub cache_misses 0
is hub cache_hits 10
is hub storage_read 0
stop_hub
