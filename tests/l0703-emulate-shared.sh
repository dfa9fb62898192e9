# SPDX-License-Identifier: Apache-2.0
# destall emulate with DESTALL=1: jobs that want the same batches make each once,
# and each is given what a job alone would have been given.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"
. "$top_srcdir/tests/emulate.sh"
need_python
need_crash_points

gen --count 201 set
emulate --data set --epochs 2 --ledger plain.ledger
expect_status 0
emulate --data set --epochs 2 --order listed --ledger listed.ledger
expect_status 0
start_hub

# job NAME DS_DIE_AT OPTION...: in the background; its process is in $pid.
job() {
	name=$1 die=$2
	shift 2
	rm -f "$name.ledger"
	DS_DIE_AT=$die DESTALL=1 DESTALL_LAG=wait "$destall" emulate --set size=32 --data set \
	    --ledger "$name.ledger" --json -o "$name.json" "$@" > "$name.out" 2> "$name.err" &
	pid=$!
}

# ended PID NAME [PLAIN]: it went well, and what it was given is all there is, and the same.
ended() {
	wait "$1" || fail "$2 ended with $?: $(cat "$2.err")"
	check_ledger "${3:-plain.ledger}" "$2.ledger"
}

# told NAME EXPRESSION...: hold of its stage, s.
told() {
	"$PYTHON" -c '
import json, sys
s = json.load(open(sys.argv[1]))["stage"]
for text in sys.argv[2:]:
    if not eval(text):
        sys.exit("not so: %s: %s" % (text, s))' "$1.json" "$2" 2> "$work/wrong" ||
	    fail "$1: $(tail -n 1 "$work/wrong")"
}

# passes: how many there were, of their units those made, and those of them that
# came too late, by the log of the hub; and none since the last call.
passes() {
	awk '/ pass [0-9]+ ends: / { n++; made += $6; for (i = 7; i < NF; i++) if ($(i + 1) ~ /^late/)
	    late += $i } END { print n + 0, made + 0, late + 0 }' "$hub_log"
	: > "$hub_log"
}

#--- alone -------------------------------------------------------------------
job one '' --batch 8 --epochs 2
ended $pid one
told one 's["shared"] and s["units_alone"] == 52 and s["samples_alone"] == 402'
told one 's["units"] == s["units_published"] == s["units_of_others"] == s["units_compared"] == 0'
grep -q '^destall: emulate: ready to share: no other job of its stream yet$' one.err || fail "$(cat one.err)"
[ "$(passes)" = "2 0 0" ] || fail "not two passes, or something was staged"

#--- several: together from the first batch on -------------------------------
# gather OPTION...: one more of job1, job2...; it has its first batch, and stops.
pids='' gathered=0
gather() {
	gathered=$((gathered + 1))
	job job$gathered emulate.batch:1:stop "$@"
	pids="$pids $pid"
	wait_stopped $pid
}

# go_on: all that were gathered do, and end.
go_on() {
	kill -CONT $pids
	gathered=0
	for pid in $pids; do
		gathered=$((gathered + 1))
		ended $pid job$gathered
	done
	pids='' gathered=0
}

for jobs in 2 4; do
	while [ $gathered -lt $jobs ]; do
		gather --batch 8 --epochs 1 --touch write
	done
	go_on
	for n in $(seq $jobs); do
		# The first unit each made for itself: whoever came before it stood still.
		told job$n 's["units"] + s["units_alone"] == 26 and s["units_different"] == 0'
		told job$n 's["units_alone"] == 1'
		told job$n "s[\"units_compared\"] < $jobs and s[\"how\"] == (\"shared with $((n - 1)) other \" +
		    (\"job\" if $n == 2 else \"jobs\") if $n > 1 else \"ready to share: no other job of its stream yet\")"
	done
	# shellcheck disable=SC2046
	set -- $(passes)
	# Nobody needs that first one any more, unless a job saw it in time.
	case "$1 $2" in "1 25" | "1 26") ;; *) fail "$jobs jobs: $1 passes, $2 units" ;; esac
	# One that was stopped while it made a unit may have been late.
	"$PYTHON" -c 'import json, sys
sum = sum(json.load(open(n))["stage"]["units_published"] for n in sys.argv[2:])
sys.exit(sum != int(sys.argv[1]))' $(($2 + $3)) job?.json || fail "$jobs jobs made more than there is"
	rm -f job?.json
done

#--- other batch sizes, kept, written to -------------------------------------
for size in 32 48 50 64; do
	gather --batch $size --epochs 2 --keep --touch write
done
go_on
told job3 's["units_of_others"] > 0 and s["units_alone"] <= 2'

#--- late --------------------------------------------------------------------
# begin_first ORDER: a job that has taken 40 batches of 51 and then waits, in its
# own code, until let_first_go.  It is stopped nowhere: what it has ahead others can get.
begin_first() {
	rm -f first.ledger there go
	printf '%s\n' "open A set size=32 batch=4 epochs=1 order=$1 ledger=first.ledger share=yes" \
	    'take A 40' 'touch there' 'await go' 'rest A' > first.script
	DESTALL=1 DESTALL_LAG=wait "$(harness taker)" < first.script > first.out 2> first.err &
	first=$!
	until [ -e there ]; do kill -0 $first || fail "first: $(cat first.err)"; sleep 0.01; done
}

let_first_go() {
	touch go
	ended $first first "${1:-plain.ledger}"
}

# In an order that is random, from where the other is; and stopped in the middle
# of what it missed, it goes on with other batches.
begin_first random
job late emulate.batch:10:stop --batch 4 --epochs 2 --save late.position
late=$pid
wait_stopped $late
kill -CONT $late
let_first_go
ended $late late
from=$(awk 'NR == 1 { print $3 }' late.ledger)
[ "$from" -gt 80 ] || fail "it has begun at $from"
[ "$(tail -n 1 late.ledger | cut -d ' ' -f 3)" -eq 200 ] || fail "the last is not last"
told late 's["units_of_others"] > 0'
begin_first random
for at in 2 20; do
	job late emulate.batch:$at:stop --batch 4 --epochs 2 --save late.position
	late=$pid
	wait_stopped $late
	[ $at -eq 2 ] || let_first_go
	kill -TERM $late
	kill -CONT $late
	wait $late && fail "it was not stopped"
	grep -Eq 'samples=[0-9]+ from=[0-9]+ tail=1$' late.position || fail "$(cat late.position)"
	emulate --data set --epochs 2 --resume late.position --ledger late.ledger
	expect_status 0
	check_ledger plain.ledger late.ledger
done

# In an order that is listed, from its beginning.
begin_first listed
job late emulate.batch:42:stop --batch 4 --order listed --epochs 1
late=$pid
wait_stopped $late
kill -CONT $late
let_first_go listed.ledger
ended $late late listed.ledger
cut -d ' ' -f 3 late.ledger > order
sort -n order | cmp - order || fail "another order"
told late 's["units_of_others"] > 0'
stop_hub

#--- without a hub -----------------------------------------------------------
DESTALL=1 emulate --data set --epochs 1 --set share=no
expect_status 0
expect_one_line 'emulate: alone: share=no$'
stop_hub
