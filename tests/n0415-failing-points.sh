# SPDX-License-Identifier: Apache-2.0
# Every crash point of hub, cache and client returns an error (rows 23 and 24),
# in the process that comes by: the job gets the right bytes or a reason, the hub
# lives, or says why it ends.  Unlike with failing calls, a sanitizer can watch.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/faults.sh"
need_crash_points

mkset set 12 2000 9000
points=$(crash_points '' | grep -E '^(hub|cache|data|start)\.')
[ -n "$points" ] || fail "no crash points"

# check_text FILE...: what the sanitizers and must() say.
check_text() {
	! grep -hE 'Sanitizer|runtime error:|this is a bug' "$@" || fail "$about"
}

in_hub() {
	DS_DIE_AT=$1 "$destall" serve --foreground > hub.txt 2>&1 &
	hub=$!
	until [ -S "$DESTALL_HUB" ] || ! kill -0 $hub 2> /dev/null; do sleep 0.01; done
	"$(harness sampler)" 2 set > job.txt 2> job.err || fail "$about: the job: $(cat job.txt job.err)"
	"$destall" serve --stop > /dev/null 2>&1 || :
	kill -TERM $hub 2> /dev/null || :
	status=0
	wait $hub || status=$?
	case $status in
	0) ;;
	1) grep -q '^destall: .' hub.txt || fail "$about: no reason" ;;
	*) fail "$about: the hub ended with $status: $(cat hub.txt)" ;;
	esac
}

in_job() {
	start_hub
	status=0
	DS_DIE_AT=$1 "$(harness sampler)" 2 set > job.txt 2> job.err || status=$?
	[ $status -eq 0 ] || [ $status -eq 1 ] || fail "$about: exit status $status: $(cat job.err)"
	[ $status -eq 0 ] || grep -q '^sampler: .' job.err || fail "$about: no reason"
	[ -d "/proc/$(hub_pid)" ] || fail "$about: the hub is gone"
	"$(harness sampler)" 1 set > after.txt 2>&1 || fail "$about, afterwards: $(cat after.txt)"
	stop_hub
	: > hub.txt
}

who_comes_by() {
	case $1 in
	hub.*) echo in_hub ;;
	cache.* | data.*) echo in_job ;;
	*) echo in_hub in_job ;;
	esac
}

nr=0
for point in $points; do
	for nth in 1 2; do
		for where in $(who_comes_by "$point"); do
			about="$point:$nth:ENOMEM $where"
			$where "$point:$nth:ENOMEM"
			! grep -q 'wrong [1-9]' job.txt || fail "$about: wrong bytes"
			check_text job.err hub.txt
			nr=$((nr + 1))
		done
	done
done
event $nr "errors at $(echo "$points" | wc -l) crash points"
