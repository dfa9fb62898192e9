# SPDX-License-Identifier: Apache-2.0
# x0503: a job becomes another program after it had joined (row 30): no
# descriptor of ours stays open in that, and the hub ends what the old one had.
# A job dies of SIGSEGV in code of its own (row 31): by that signal, with nobody
# else's handler in between, and the others go on.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cache.sh"
need_python
ulimit -c 0

items=60
mkset set $items 5000 60000
start_hub
take_baseline

round=0 crashes=0
while [ $round -lt "$(scale 3)" ]; do
	round=$((round + 1))
	rm -f ready* go*
	choose $items
	"$the_job" hub=find seed="$DS_SEED" hold=10 at=$((chosen + 1)) do=exec \
	    ready=ready go=go set > exec.txt 2>&1 &
	pid=$!
	: > go
	wait_file ready.exec
	kill -0 $pid || fail "the new program is gone"
	expect_idle		# though the process lives
	grep -qx 'more 0' exec.txt || fail "descriptors: $(cat exec.txt)"
	: > go.exec
	wait $pid || fail "exit status $?: $(cat exec.txt)"
	expect_baseline set

	bounded "$the_job" hub=find seed=$((DS_SEED + 1)) pace=500 set > other.txt 2>&1 &
	other=$!
	choose $items
	status=0
	"$the_job" hub=find seed="$DS_SEED" hold=10 threads=2 at=$((chosen + 1)) \
	    do=segv set > segv.txt 2>&1 || status=$?
	is_sanitized || expect_status 139
	[ "$status" -ne 0 ] || fail "it did not crash"
	crashes=$((crashes + 1))
	wait_job $other other.txt 1 $items
	expect_baseline set
done
stop_hub
event $round "jobs that became another program"
event $crashes "jobs that crashed in their own code"
