# SPDX-License-Identifier: Apache-2.0
# Programs read files through the preload object that cannot be read (row 43):
# each sees the error, as without us, when it reads and not before, and nothing
# of it is cached; mended, they are.  A file whose reading never comes back
# (row 44) holds up who reads it, as without us: everything else flows, and
# another, for whom it can be read, brings it in.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/preloaded.sh"
need_object
need_preload
need_python

items=100
mkset set $items 2000 9000
# In a process of its own, which CMD becomes.
slow() {
	exec env LD_PRELOAD="$(shim slow)" DS_SLOW_ROOT=set DS_SLOW_STATE="$work/state" "$@"
}

# Plain, for comparison; then cold, and when the rest is cached.
export DS_SLOW_FAIL='EIO:00001[0-4].bin'
(slow "$the_plain" epochs=2 how=read set) > want.txt 2> want.err && fail "no error"
[ "$(word want.txt all failed)" = 10 ] || fail "plain: $(cat want.txt want.err)"
start_hub
for state in cold warm; do
	for i in 1 2 3 4; do
		slow "$preload" "$the_plain" epochs=2 how=read set > bad$i.txt 2> bad$i.err &
		eval "job$i=\$!"
	done
	for i in 1 2 3 4; do
		eval "pid=\$job$i"
		status=0
		wait "$pid" || status=$?
		[ $status -eq 1 ] || fail "$state: reader $i ends with $status: $(cat bad$i.err)"
		for file in want bad$i; do grep -v longest $file.txt > $file.cut; done
		cmp want.cut bad$i.cut || fail "$state: not as without us"
		cmp want.err bad$i.err || fail "$state: not the same errors"
	done
	expect_idle
	[ "$admitted" -eq $((items - 5)) ] || fail "$state: $admitted items are cached"
done
unset DS_SLOW_FAIL
run "$preload" "$the_plain" set
expect_status 0
check_plain "$work/out" 1 $items
is_cached set $items || fail "mended, $(set_of set cached_items) are cached"
stop_hub
event 40 "bad files, met by 4 programs, twice"

# One hangs for those who read it through the shim: before anything is leased,
# when its first bytes are looked at.
start_hub --lease 500ms
rm -f "$work/state"
DS_SLOW_HANG=000003.bin
export DS_SLOW_HANG
slow "$preload" "$the_plain" set > hung.txt 2>&1 &
hung=$!
await sh -c "'$(harness slowstat)' '$work/state' 2> /dev/null | grep -q '^hung 1'"
unset DS_SLOW_HANG
others_flow() {
	bounded "$preload" sh "$work/four.sh" epochs=2 set > four.out 2> four.err &
	wait_four $! 2 $items 0
	await is_cached set $items
	expect_set set expired_leases "$1"
	kill -0 $hung || fail "the stuck program has ended: $(cat hung.txt)"
	kill -KILL $hung
	wait $hung 2> /dev/null || :
	expect_idle
}
others_flow 0

# And one that stands still with a lease in its hands, which ends in time.
if configured WITH_CRASH_POINTS; then
	run "$destall" cache drop set
	DS_DIE_AT=bring.leased:30:stop "$preload" "$the_plain" set > hung.txt 2>&1 &
	hung=$!
	wait_stopped $hung
	others_flow 1
	expect_log 'item [0-9]+ is not there after 0.5 s: client [0-9]+ may be stuck in reading it'
	# One that goes on later has the right bytes, and publishes nothing.
	run "$destall" cache drop set
	DS_DIE_AT=bring.leased:30:stop "$preload" "$the_plain" epochs=2 set > late.txt 2>&1 &
	late=$!
	wait_stopped $late
	run "$preload" "$the_plain" set
	expect_status 0
	check_plain "$work/out" 1 $items
	await is_cached set $items
	kill -CONT $late
	wait_plain $late late.txt 2 $items
	expect_idle
fi
stop_hub
event 3 "readings that came back late, or never"
