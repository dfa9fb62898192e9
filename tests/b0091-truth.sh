# SPDX-License-Identifier: Apache-2.0
# What `destall profile` is judged by: the laws and the judgement (tests/bench/truth_*.py),
# the job whose stalls are known, of which the storage counts what it reads, and both
# benchmarks in their quick form, on a profiler that is told what to say.
. "${top_srcdir:?run by make check}/tests/lib.sh"
[ -n "${PYTHON-}" ] || skip "configured without Python"

bench=$top_srcdir/tests/bench
export PYTHONDONTWRITEBYTECODE=1
(cd "$bench" && "$PYTHON" -m unittest truth_test) > "$work/out" 2> "$work/err" ||
    fail "truth_test"
expect_err '^Ran [1-9][0-9]* tests'

#--- the job -----------------------------------------------------------------

need_preload
python=/usr/bin/python3
"$python" -c 'import torch' 2> /dev/null || skip "$python has no torch"
export OMP_NUM_THREADS=1 PYTHONWARNINGS=ignore
job=$top_srcdir/tests/python/stalls_job.py
mkdir data
i=0
while [ $i -lt 96 ]; do
	head -c 5000 /dev/zero > "data/$i"
	i=$((i + 1))
done
sync data/*

# Ordinary epochs, with all start methods and none; figures of the steady state.
for how in "--workers 0" "--workers 2" "--workers 1 --start-method spawn" \
    "--workers 1 --start-method forkserver"; do
	run "$python" "$job" data $how --batch 4 --epochs 2 --pieces 3 --touch --json out.json
	expect_status 0
	"$PYTHON" - <<- 'END' || fail "with $how"
		import json
		epochs = json.load(open("out.json"))["epochs"]
		assert [e["phase"] for e in epochs] == ["actual"] * 2, epochs
		assert all(0 < e["samples"] <= 92 and e["seconds"] > 0 for e in epochs), epochs
		assert all(e["cpu_ms_per_sample"] > 0 for e in epochs), epochs
	END
done

# An epoch that is too short has none, and is no failure.
run "$python" "$job" data --batch 48 --json out.json
expect_status 0
run grep -c samples out.json
expect_out '^0$'

# All phases.  Before `ready` it must know how fast the loader is.
run "$python" "$job" data --batch 4 --resident 1 --json out.json \
    --phases synthetic,alone,cached,actual,ready,raw
expect_status 0
run grep -c handover_ms_per_batch out.json
expect_out '^1$'
run "$python" "$job" data --phases ready
expect_status 2
expect_err "before 'ready' there must be 'alone'"

# What the storage delivers is what is not in memory: once each, in every epoch.
case $(stat -f -c %T data) in
tmpfs | ramfs) echo "not shown: what the job reads from storage: $PWD is in memory" ;;
*)
	for resident in 0:192 0.5:96 1:0; do
		rm -f state
		run env LD_PRELOAD="$(shim slow)" DS_SLOW_ROOT="$PWD/data" DS_SLOW_STATE=state \
		    DS_SLOW_CACHED=fast "$python" "$job" data --batch 4 --epochs 2 \
		    --resident "${resident%:*}"
		expect_status 0
		run "$(harness slowstat)" state
		expect_out "^reads ${resident#*:}$"
		expect_out "^bytes $((${resident#*:} * 5000))$"
	done
	;;
esac

#--- the benchmarks ----------------------------------------------------------

# A build whose profiler says what it is told, and runs what it watches.
mkdir fake
cat > fake/destall <<- 'END'
	#!/bin/sh
	case "$2" in
	--help) exit 0 ;;
	--live) shift 3; exec "$@" ;;
	esac
	while [ "$1" != --json ]; do shift; done
	cp said.json "$2"
END
chmod +x fake/destall
figures() {
	echo '"rates_samples_per_s":{"ingest":'"$1"',"ingest_busy":null,"prep":'"$2"',
	    "storage":null,"cache":null,"loader_cached":'"$2"',"loader_cold":null,"actual":'"$2"'},
	    "shares":{"compute":0.5,"prep":0.48,"fetch":0.0,"handover":0.02}'
}
echo '{"verdict":{"bottleneck":"prep"},"cpu_ms_per_sample":null,"intervals":{},
    "seconds":50,"startup_seconds":2,"measured_seconds":45,"starts":1,'"$(figures 800 400)}" \
    > said.json
export BENCH_PYTHON="$python" top_builddir="$PWD/fake"
run "$PYTHON" "$bench/truth" --quick --json -o truth.json
expect_status 0
expect_no_out
run "$PYTHON" -m json.tool truth.json
expect_out '"share.compute": '
# The round of before, and the same twice.
run "$PYTHON" "$bench/truth" --quick --rounds 0 --with truth.json
expect_status 0
expect_out '^prep \(sleeps alone: judged raw\)$'
expect_out '^    G .* 800 .* 0/0  1 %: '
expect_out '^    bottleneck prep: named prep; time 1.07 times the blocks, 1 starts'
run "$PYTHON" "$bench/truth" --quick --rounds 0 --with truth.json --with truth.json
expect_out ' 2 rounds, '
expect_out '^    bottleneck prep: named prep, prep; '
run "$PYTHON" "$bench/truth" --quick --only nothing
expect_status 1
expect_err '^truth: --only: no such job; --list names them$'

run "$PYTHON" "$bench/live" --quick --rounds 1 --warmup 0
expect_status 0
for of in median mean; do expect_out "^  --live: [-+0-9.]+ % \\[.* of a step's time, $of of steps\$"; done
expect_out '^  goal 1 % of the median, .*: (met|MISSED)$'
expect_out '^  --live: true [-+0-9.]+ ms, cat [-+0-9.]+ ms: '

# A build that has no profiler.
printf '#!/bin/sh\nexit 2\n' > fake/destall
for b in truth live; do
	run "$PYTHON" "$bench/$b" --quick
	expect_status 77
	expect_err "^$b: skipped: this build has no .destall profile."
done
