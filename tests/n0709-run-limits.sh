# SPDX-License-Identifier: Apache-2.0
# n0709: what the job that needs a hub first has for itself alone: limits that
# would make the hub fail in the middle of somebody else's job.  It is not
# started there, the job runs plain, and the next one starts it.  And a signal to
# the whole group, which comes to us as the command has just ended, does not
# change how we end.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/run.sh"
! is_sanitized || skip "a plain program cannot load a sanitized object"

make_data data 4
cat data/*/* > want

# tight OPTION VALUE: of ulimit, soft and hard.
tight() {
	status=0
	(ulimit -"$1" "$2" && exec "$destall" run --data data sh -c 'cat data/*/*') \
	    > "$work/out" 2> "$work/err" || status=$?
	expect_status 0
	cmp want "$work/out" || fail "ulimit -$1 $2: other bytes"
	expect_one_line "run: cannot start the hub: .*ulimit -$1.*: the job runs without the cache\$"
}
tight t 60
tight f 4
tight n 20
run "$destall" run --data data sh -c 'cat data/*/*'
expect_status 0
cmp want "$work/out" || fail "afterwards: other bytes"
expect_err 'run: caching .*data: 4 files'
event 3 "jobs under limits too tight for a hub"

# Soft limits alone are raised.
stop_hub
(ulimit -S -f 4 && ulimit -S -t 60 && exec "$destall" run --data data true) 2> "$work/err" || fail "soft limits"
expect_err 'run: caching .*data: 4 files'
stop_hub

cat > slow.sh <<'END'
trap 'exit 7' TERM
: > ready
while :; do sleep 0.01; done
END
n=0
while [ $n -lt 8 ]; do
	n=$((n + 1))
	rm -f ready
	setsid "$destall" run sh slow.sh 2> "$work/err" &
	job=$!
	until [ -e ready ]; do sleep 0.01; done
	kill -TERM -- -$job
	kill -TERM $job 2> /dev/null || :
	status=0
	wait $job || status=$?
	expect_status 7
done
event 8 "signals to a group as its command ends"
