# SPDX-License-Identifier: Apache-2.0
# x0403: the kernel kills the hub for its control group's lack of memory (row
# 22): three jobs go on as with any other end of it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cache.sh"
need_python
need choom
export PYTHONDONTWRITEBYTECODE=1
cgroup="$PYTHON $top_srcdir/tests/harness/cgroup.py"
run $cgroup check --memory 160M
[ "$status" -ne 77 ] || skip "$(sed 's/^cgroup.py: //' "$work/err")"
! is_sanitized || skip "the shadow memory of a sanitizer is too large for the group"

items=100 epochs=3
mkset set $items 20000 200000

# The hub is the first that the kernel chooses; the hog stops when it is gone.
cat > group.sh <<'EOF'
choom -n 1000 -- "$1" serve --foreground > hub.txt 2>&1 &
hub=$!
until [ -e hog ]; do sleep 0.01; done
"$2" -c '
import os, sys
kept = []
while os.path.exists("/proc/%s/exe" % sys.argv[1]) or len(kept) < 4:
    kept.append(b"x" * (4 << 20))
    if len(kept) > 100:
        sys.exit(1)' $hub
wait $hub
echo $? > hub.status
EOF

round=0
while [ $round -lt "$(scale 1)" ]; do
	round=$((round + 1))
	rm -f hog hub.status go ready?
	$cgroup run --memory 160M -- sh group.sh "$destall" "$PYTHON" > group.txt 2>&1 &
	group=$!
	until [ -S "$DESTALL_HUB" ]; do
		kill -0 $group || fail "$(cat group.txt hub.txt)"
		sleep 0.01
	done
	for i in 1 2 3; do
		bounded "$the_job" hub=find epochs=$epochs pace=2000 seed=$((DS_SEED + i)) \
		    ready="ready$i" go=go set > "job$i.txt" 2>&1 &
		eval "job$i=$!"
	done
	wait_file ready1 ready2 ready3
	: > go
	choose_time 300
	: > hog
	wait $group || :
	[ "$(cat hub.status)" = 137 ] ||
	    fail "the hub was not killed: $(cat hub.status hub.txt group.txt)"
	for i in 1 2 3; do
		eval "wait_job \$job$i job$i.txt $epochs $items"
		figure "longest get of a job whose hub was killed, us:" "$(word "job$i.txt" longest longest)"
	done
	rm -f "$DESTALL_HUB"
done
start_hub
run bounded "$the_job" hub=find set
expect_status 0
check_job "$work/out" 1 $items
stop_hub
event $round "hubs killed for lack of memory"
