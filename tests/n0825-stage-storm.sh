# SPDX-License-Identifier: Apache-2.0
# n0825: a thousand signals a second to the hub and to jobs that share (row 25):
# no error, no sample lost, no job detached, and they share all the same.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"
need_preload
storm=$(harness storm) storm_shim=$(shim storm)

drill_set 400
job_options="--epochs 3 --seed 3"
plain_job

# in_storm NAME CMD...: started in the background; its process, in whose stead
# the storm ends, into $NAME_pid.
in_storm() {
	name=$1
	shift
	rm -f "$name.ledger" "$name.json"
	DS_STORM_COUNT="$work/sent.$name" "$storm" "$storm_shim" destall "$@" > "$name.out" 2>&1 &
	eval "${name}_pid=$!"
}

in_storm hub "$destall" serve --foreground
until [ -S "$DESTALL_HUB" ]; do
	! is_ended "$hub_pid" || fail "the hub: $(cat hub.out)"
	sleep 0.01
done
export DESTALL=1
for name in a b c; do
	case $name in
	a) how= ;;
	b) how="--keep --touch write" ;;
	c) how="--step-ms 1" ;;
	esac
	in_storm $name "$destall" emulate --data $job_set --batch $batch --set size=32 $job_options \
	    --ledger $name.ledger --json -o $name.json $how
done
for name in a b c; do end_job $name; done
check_jobs a b c
for name in a b c; do
	[ "$(result detached $name)" -eq 0 ] || fail "job $name was detached"
	! grep -q 'alone: the hub' $name.out || fail "job $name lost its hub: $(cat $name.out)"
done
[ "$(result units_of_others a b c)" -gt 0 ] || fail "nothing was shared"
expect_no_stream
expect_idle
stop_hub
end_job hub
sent=0
for name in hub a b c; do sent=$((sent + $(cat "$work/sent.$name"))); done
[ $sent -gt 0 ] || fail "no signal was sent"
event $sent "signals to a hub and to jobs that shared"
checked
