# SPDX-License-Identifier: Apache-2.0
# x0402: the hub is killed and another started (row 9), and a producer of the
# new one is killed meanwhile (row 47): the new hub is of another generation and
# knows nothing of the old one's jobs, which go on alone; new jobs use it; all
# of them get every item right.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cache.sh"
need_crash_points
need_python

items=100
mkset set $items 5000 60000
kills=0
points=$(crash_points cache.)
nr_points=$(echo "$points" | wc -l)

# one_job NAME OPTION...: in the background; its process into $NAME.
one_job() {
	name=$1
	shift
	bounded "$the_job" hub=find "$@" set > "$name.txt" 2> "$name.err" &
	eval "$name=$!"
}

round=0
while [ $round -lt "$(scale 8)" ]; do
	round=$((round + 1))
	rm -f ready* go
	start_hub
	stat_of hub.generation > gen1
	one_job old1 epochs=3 pace=300 seed=$((DS_SEED + round)) ready=ready1 go=go
	one_job old2 epochs=3 pace=300 seed=$((DS_SEED + round + 1)) threads=2 ready=ready2 go=go
	wait_file ready1 ready2
	: > go
	choose_time 100
	kill_hub

	start_hub
	choose "$nr_points"
	point=$(echo "$points" | sed -n "$((chosen + 1))p")
	choose 5
	DS_DIE_AT=$point:$((chosen + 1)) "$the_job" hub=find seed="$round" set > victim.txt 2>&1 &
	victim=$!
	one_job new1 epochs=2 seed=$((DS_SEED + round + 2))
	one_job new2 epochs=2 seed=$((DS_SEED + round + 3))
	ended=0
	wait $victim 2> /dev/null || ended=$?
	case $ended in
	137) kills=$((kills + 1)) ;;
	0) ;;	# the others had fetched it all
	*) fail "the victim: exit status $ended: $(cat victim.txt)" ;;
	esac
	wait_job $new1 new1.txt 2 $items
	wait_job $new2 new2.txt 2 $items
	wait_job $old1 old1.txt 3 $items
	wait_job $old2 old2.txt 3 $items
	for name in new1 new2; do
		[ "$(word $name.txt all cached)" -eq 1 ] || fail "$name is not served"
	done

	# Only the three new ones were ever here, and what is counted is theirs.
	expect_idle
	stat_of hub.generation > gen2
	! cmp -s gen1 gen2 || fail "the same generation twice: $(cat gen1)"
	stat_of datasets.0.storage_reads datasets.0.cached_items > stat
	{ read -r reads; read -r cached; } < stat
	[ "$cached" -eq $items ] || fail "$cached of $items items are admitted"
	[ "$reads" -ge $items ] && [ "$reads" -le $((items + 1)) ] ||
	    fail "$reads reads of storage for $items items by jobs of the new hub"
	"$PYTHON" -c '
import json, sys
pids = {j["pid"] for j in json.load(open(sys.argv[1]))["jobs"]}
sys.exit(len(pids) > 3)' "$work/state.json" || fail "the new hub has met old jobs"
	figure "bytes fetched again by a new hub:" \
	    "$(($(word new1.txt all bytes) + $(word new2.txt all bytes)))"
	kill_hub
done
start_hub
stop_hub
event $kills "kills of hubs and of producers while they recover"
