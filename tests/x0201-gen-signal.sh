# SPDX-License-Identifier: Apache-2.0
# destall gen is asked to stop: it finishes what is in work, says how to go on,
# and ends by the signal.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/gen.sh"
need_crash_points
env --default-signal=INT true 2> /dev/null || skip "env has no --default-signal"

# So many that the program sees a signal long before the last, however busy
# the machine is.
images=400
gen --count $images files > /dev/null
gen --count $images --tar 4K shards > /dev/null

# expect_stopped REGEX: the last line; before it, only that it is stopping.
expect_stopped() {
	tail -n 1 "$work/err" | grep -Eq "^destall: $1" || fail "the last line is not: $1"
	! sed '$d' "$work/err" | grep -Evq \
	    '^destall: gen: stopping after the [0-9]+ images? in work; once more to stop now$' ||
	    fail "other lines on standard error"
}

# signal_stopped SIGNAL: sends it to the job begun last, once that stands still
# at its crash point, and lets it go on to its end.
signal_stopped() {
	pid=$!
	wait_stopped $pid
	kill -"$1" $pid
	kill -CONT $pid
	status=0
	wait $pid || status=$?
}

# stop SIGNAL NUMBER WANT OPTION...: it comes while the program stands still
# after its tenth image or third shard.  Shells start background jobs with
# SIGINT ignored.
stop() {
	signal=$1 number=$2 want=$3
	shift 3
	rm -rf set
	env --default-signal=INT,TERM,HUP DS_DIE_AT="$point" "$destall" gen --size 40x30 \
	    --classes 3 --count $images "$@" set > "$work/out" 2> "$work/err" &
	signal_stopped "$signal"
	expect_status $((128 + number))
	expect_no_out
	check_clean set "$signal, $want"
	expect_stopped "gen: stopped: [0-9]+ of $images images are there, the same command goes on from them$"
	gen --count $images "$@" set > /dev/null
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
signal_stopped INT
expect_status 130
[ "$(count_images set)" -lt 100000 ] || fail "it did not stop"

# What the parent had us ignore, as nohup does, is ignored.
rm -rf set
env --ignore-signal=HUP DS_DIE_AT=gen.renamed:10:stop "$destall" gen --size 40x30 \
    --classes 3 --count $images set > "$work/out" 2> "$work/err" &
signal_stopped HUP
expect_status 0
same_tree files set "with SIGHUP ignored"

# Nothing is missing when it is asked to stop: that is the result.
for want in files shards; do
	point=gen.renamed:$images:stop options=
	[ $want = files ] || point=gen.shard-renamed:$(ls shards | wc -l):stop options="--tar 4K"
	rm -rf set
	env --default-signal=INT DS_DIE_AT="$point" "$destall" gen --size 40x30 \
	    --classes 3 --count $images $options set > "$work/out" 2> "$work/err" &
	signal_stopped INT
	expect_status 0
	expect_out "^set: $images images, .* $images made in"
	same_tree $want set "asked to stop at the end"
done

# It says at once that it is stopping, however long the images in work take,
# and the second signal does not wait for them.
rm -rf set
env --default-signal=INT DS_DIE_AT=gen.renamed:10:sleep=60000 "$destall" gen --size 40x30 \
    --classes 3 --count 40 --threads 1 set > "$work/out" 2> "$work/err" &
pid=$!
until [ "$(count_images set 2> /dev/null)" -eq 10 ]; do
	kill -0 $pid || fail "it has ended"
	sleep 0.01
done
kill -INT $pid
until [ -s "$work/err" ]; do
	kill -0 $pid || fail "it has ended"
	sleep 0.01
done
expect_one_line 'gen: stopping after the 1 image in work; once more to stop now$'
kill -INT $pid
status=0
wait $pid || status=$?
expect_status 130
check_whole set "stopped twice"

# While it looks at what is there: nothing is made, no count made up.
for want in files shards; do
	options=
	[ $want = files ] || options="--tar 4K"
	rm -rf set
	cp -R $want set
	env --default-signal=INT DS_DIE_AT=gen.scanned:3:stop "$destall" gen --size 40x30 \
	    --classes 3 --count $((images + 10)) $options set > "$work/out" 2> "$work/err" &
	signal_stopped INT
	expect_status 130
	expect_no_out
	expect_one_line 'gen: stopped while looking at what is there: run the same command again$'
	same_tree $want set "stopped while looking"
done
