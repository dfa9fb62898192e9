# SPDX-License-Identifier: Apache-2.0
# destall gen whose folder is moved, removed or emptied by somebody else while
# it is at work: one line and no claim that the set is there.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/gen.sh"
need_crash_points

gen --count 12 files > /dev/null
gen --count 12 --tar 4K shards > /dev/null

# disturb POINT TEXT WHAT OPTION...: WHAT is done while it stands still.
disturb() {
	point=$1 text=$2 what=$3
	shift 3
	rm -rf set away
	env DS_DIE_AT="$point:stop" "$destall" gen --size 40x30 --classes 3 --count 12 \
	    --threads 1 "$@" set > "$work/out" 2> "$work/err" &
	pid=$!
	wait_stopped $pid
	eval "$what"
	kill -CONT $pid
	status=0
	wait $pid || status=$?
	expect_status 1
	expect_no_out
	expect_one_line "$text was moved or removed while gen was at work in it: run the same command again\$"
}

for nth in 1 5 12; do
	disturb gen.renamed:$nth set 'mv set away'
	disturb gen.renamed:$nth set 'mv set away; mkdir set'
	disturb gen.renamed:$nth set 'rm -rf set'
	disturb gen.renamed:$nth set/class000 'rm -rf set/class000'
	[ ! -e set/class000 ] || fail "the class was made again"
done
disturb gen.shard-renamed:1 set 'mv set away' --tar 4K
disturb gen.shard-renamed:2 set 'rm -rf set' --tar 4K

# A class that was there before the run, likewise.
rm -rf set
gen --count 6 set > /dev/null
env DS_DIE_AT=gen.renamed:1:stop "$destall" gen --size 40x30 --classes 3 --count 12 \
    --threads 1 set > "$work/out" 2> "$work/err" &
pid=$!
wait_stopped $pid
rm -rf set/class001
kill -CONT $pid
! wait $pid || fail "a class vanished unnoticed"
gen --count 12 set > /dev/null
same_tree files set "after a class vanished"

# A shard.
rm -rf set
env DS_DIE_AT=gen.shard-renamed:2:stop "$destall" gen --size 40x30 --classes 3 --count 12 \
    --tar 4K set > "$work/out" 2> "$work/err" &
pid=$!
wait_stopped $pid
rm set/shard-000000.tar
kill -CONT $pid
! wait $pid || fail "a shard vanished unnoticed"
expect_one_line 'shards in set were moved or removed while gen was at work: run the same command again$'
gen --count 12 --tar 4K set > /dev/null
same_tree shards set "after a shard vanished"
