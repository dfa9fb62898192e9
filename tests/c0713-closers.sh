# SPDX-License-Identifier: Apache-2.0
# c0713: programs that the object must not hinder, nor they it: they close all
# descriptors and put their own in their place, set LD_PRELOAD themselves, have
# threads, fork, exec, cancel threads, and are interrupted a thousand times a
# second (tests/harness/closer.c, crowd.c).
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/compat.sh"
need_hub

set=$work/set
mkset "$set" 24 1000 60000
age "$set"
files=$(find "$set" -type f)
closer=$(harness closer)
crowd=$(harness crowd)

must_be_right() {
	rm -f own
	run bounded "$@"
	expect_status 0
	expect_out '^right$'
	! grep -v '^destall: run: ' "$work/err" || fail "$*: a line of the object's"
}

# right HITS CMD...: without destall; then with nothing cached, all of it (when
# HITS, all or some, of what it opens must be hits, and descriptors of ours must
# have been replaced), and a third of it.
right() {
	want=$1
	shift
	must_be_right "$@"
	must_be_right "$destall" run --data "$set" -- "$@"
	"$destall" run --data "$set" -- cat $files > /dev/null 2>&1 || fail "cat"
	must_be_right "$destall" run --data "$set" -- "$@"
	case $want in
	all) expect_err 'run: (at least )?([0-9,]+) of \2 opens from the cache' ;;
	some) expect_err 'run: (at least )?[1-9][0-9,]* of [0-9,]+ opens from the cache' ;;
	replaced)
		expect_err 'run: (at least )?[1-9][0-9,]* of [0-9,]+ opens from the cache'
		expect_out '^replaced [1-9]' ;;
	esac
	stop_hub
	must_be_right "$destall" run --cache 35% --data "$set" -- "$@"
	stop_hub
}

for how in range loop from; do
	right replaced "$closer" $how 4 $files
done
right some "$closer" daemon 4 $files

right all "$crowd" threads 16 5 $files
right all "$crowd" forks 340 2 $files
right some "$crowd" vforks 200 2 $files
right all "$crowd" exec 10 1 $files
right all "$crowd" cancel 150 1 $files

# Workers that are forked and never execute anything count for themselves.
right all "$crowd" workers 4 2 $files
must_be_right "$destall" run --data "$set" -- "$crowd" workers 4 2 $files
sed -n 's/^worker //p' "$work/out" > pids
"$destall" cache stat --json > "$work/state.json"
"$PYTHON" -c '
import json, sys
jobs = {j["pid"]: j for j in json.load(open(sys.argv[1]))["jobs"]}
for pid in open("pids").read().split():
    j = jobs[int(pid)]
    assert (j["hits"], j["misses"]) == (48, 0), j' "$work/state.json" || fail "their counts"
event 1020 "forks between opens of two threads"
event 600 "children in the memory of their parent"
event 450 "cancelled threads"

#--- LD_PRELOAD ---------------------------------------------------------------

# preloads HITS-OR-NOT SCRIPT: with another object in $1, and the files after.
other=$(shim fail)
preloads() {
	kind=$1
	run bounded "$destall" run --data "$set" -- sh -c "$2" - "$other" $files
	expect_status 0
	cat $files | cmp - "$work/out" || fail "other bytes: $2"
	expect_err "$kind"
}
hits="run: 24 of 24 opens from the cache"
preloads "$hits" 'o=$1; shift; LD_PRELOAD=$o:$LD_PRELOAD exec cat "$@"'
preloads "$hits" 'o=$1; shift; LD_PRELOAD="$LD_PRELOAD $o" exec cat "$@"'
preloads "run: no file of the data set was opened" \
    'o=$1; shift; LD_PRELOAD=$o exec cat "$@"'
preloads "run: no file of the data set was opened" \
    'shift; unset LD_PRELOAD; exec cat "$@"'
LD_PRELOAD=$other
export LD_PRELOAD
preloads "$hits" 'shift; exec cat "$@"'
preloads "$hits" 'case $LD_PRELOAD in *destall-preload.so*"$1") ;; *) exit 9 ;; esac; shift; cat "$@"'
unset LD_PRELOAD
stop_hub

#--- a storm ------------------------------------------------------------------

# The signals go to the program itself, not to destall run.
stormy() {
	must_be_right "$destall" run "$@"
	sent=$((${sent:-0} + $(cat "$work/sent")))
}
storm=$(harness storm) storm_shim=$(shim storm)
export DS_STORM_COUNT="$work/sent" storm storm_shim
in_storm='exec "$storm" "$LD_PRELOAD:$storm_shim" crowd "$@"'
for cache in 100% 35%; do
	for round in 1 2; do
		stormy --cache $cache --data "$set" -- sh -c "$in_storm" - \
		    "$crowd" threads 4 15 $files
		stormy --cache $cache --data "$set" -- sh -c "$in_storm" - \
		    "$crowd" workers 4 8 $files
	done
	stop_hub
done
[ "$sent" -gt 0 ] || fail "no signal was sent"
event "$sent" "signals"
