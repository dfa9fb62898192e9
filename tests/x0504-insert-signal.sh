# SPDX-License-Identifier: Apache-2.0
# x0504: SIGTERM and SIGINT come inside an insert (row 32): a job without a
# handler dies of the signal, one with a handler ends as it likes, with its own
# exit status; neither leaves anything, and the item is fetched by another.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cache.sh"
need_crash_points
need_python
env --default-signal=INT true 2> /dev/null || skip "env has no --default-signal"

items=40
mkset set $items 5000 60000
start_hub
take_baseline
ended=0

# end POINT SIGNAL STATUS OPTION...
end() {
	point=$1 signal=$2 want=$3
	shift 3
	choose 5
	env --default-signal=INT,TERM DS_DIE_AT="$point:$((chosen + 1)):stop" \
	    "$the_job" hub=find seed="$DS_SEED" "$@" set > job.txt 2>&1 &
	pid=$!
	wait_stopped $pid
	kill -"$signal" $pid
	kill -CONT $pid
	status=0
	wait $pid 2> /dev/null || status=$?
	expect_status "$want"
	! grep -Eq 'wrong [1-9]|failed [1-9]' job.txt || fail "$(cat job.txt)"
	ended=$((ended + 1))
}

for point in $(crash_points cache.); do
	end "$point" TERM 143
	end "$point" INT 130
	end "$point" TERM 7 term=7
	end "$point" INT 8 term=8
	run bounded "$the_job" hub=find set
	expect_status 0
	check_job "$work/out" 1 $items
	expect_baseline set
done
stop_hub
event $ended "jobs ended by a signal inside an insert"
