# SPDX-License-Identifier: Apache-2.0
# x0501: all jobs are killed at once, at any time (row 4), their process group
# with them: the hub is idle after it, nothing is leased, its memory and
# descriptors are as before, and the next job starts and is right.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cache.sh"
need_python
need setsid

items=100
mkset set $items 5000 60000
start_hub
take_baseline
rounds=$(scale 10)
kills=0

cat > group.sh <<'EOF'
echo $$ > group.draft && mv group.draft group
for i in 1 2 3 4; do
	"$1" hub=find epochs=1000 budget=60% threads=$((i % 2 + 1)) pace=500 \
	    seed=$(($2 + i)) set > "group$i.txt" 2>&1 &
done
wait
EOF

round=0
while [ $round -lt "$rounds" ]; do
	round=$((round + 1))
	rm -f group
	setsid sh group.sh "$the_job" $((DS_SEED * 1000 + round)) > /dev/null 2>&1 &
	wait_file group
	choose_time 250
	kill -KILL -"$(cat group)"
	wait $! 2> /dev/null || :
	kills=$((kills + 4))
	! cat group?.txt 2> /dev/null | grep -v '^epoch .* wrong 0 failed 0$' ||
	    fail "a job saw what is wrong"
	expect_idle
	# Now and then what is left is used, and now and then it begins anew.
	choose 2
	[ "$chosen" -eq 0 ] || expect_baseline set
done
run bounded "$the_job" hub=find epochs=2 set
expect_status 0
check_job "$work/out" 2 $items
expect_baseline set
stop_hub
event $kills "kills of jobs, four at once"
