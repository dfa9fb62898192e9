# SPDX-License-Identifier: Apache-2.0
# destall gen is asked to stop: it finishes what is in work, says how to go on,
# and ends by the signal.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/gen.sh"
need_crash_points
env --default-signal=INT true 2> /dev/null || skip "env has no --default-signal"

gen --count 40 files > /dev/null
gen --count 40 --tar 4K shards > /dev/null

# stop SIGNAL NUMBER WANT OPTION...: it comes while the program stands still
# after its tenth image or third shard.  Shells start background jobs with
# SIGINT ignored.
stop() {
	signal=$1 number=$2 want=$3
	shift 3
	rm -rf set
	env --default-signal=INT,TERM,HUP DS_DIE_AT="$point" "$destall" gen --size 40x30 \
	    --classes 3 --count 40 "$@" set > "$work/out" 2> "$work/err" &
	pid=$!
	wait_stopped $pid
	kill -"$signal" $pid
	kill -CONT $pid
	status=0
	wait $pid || status=$?
	expect_status $((128 + number))
	expect_no_out
	check_clean set "$signal, $want"
	expect_one_line "gen: stopped: [0-9]+ of 40 images are there, the same command goes on from them$"
	gen --count 40 "$@" set > /dev/null
	same_tree "$want" set "stopped by $signal"
}

for threads in 1 3; do
	point=gen.renamed:10:stop
	stop INT 2 files --threads $threads
	stop TERM 15 files --threads $threads
	stop HUP 1 files --threads $threads
	point=gen.shard-renamed:3:stop
	stop INT 2 shards --tar 4K --threads $threads
done

# It begins nothing more: of work for a minute, next to nothing is done.
rm -rf set
env --default-signal=INT DS_DIE_AT=gen.renamed:10:stop "$destall" gen --size 40x30 \
    --classes 3 --count 100000 set > "$work/out" 2> "$work/err" &
pid=$!
wait_stopped $pid
kill -INT $pid
kill -CONT $pid
status=0
wait $pid || status=$?
expect_status 130
[ "$(count_images set)" -lt 100000 ] || fail "it did not stop"

# What the parent had us ignore, as nohup does, is ignored.
rm -rf set
env --ignore-signal=HUP DS_DIE_AT=gen.renamed:10:stop "$destall" gen --size 40x30 \
    --classes 3 --count 40 set > "$work/out" 2> "$work/err" &
pid=$!
wait_stopped $pid
kill -HUP $pid
kill -CONT $pid
wait $pid || fail "SIGHUP was not ignored"
same_tree files set "with SIGHUP ignored"
