# SPDX-License-Identifier: Apache-2.0
# `destall profile` passes on what a command is given, and how it ends.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/emulate.sh"
. "$top_srcdir/tests/profiled.sh"
need_preload
need_python

#--- no job to measure --------------------------------------------------------------

for status in 0 1 3 125 255; do
	profile -- sh -c "exit $status"
	expect_status "$status"
	expect_one_line 'profile: no data loader was seen: '
done
profile sh -c 'kill -TERM $$'
expect_status 143
profile sh -c 'kill -KILL $$'
expect_status 137
# Its own signal, not only a number that says so.
run sh -c '"$1" profile sh -c "kill -USR1 \$\$"; kill -l $?' sh "$destall"
expect_out '^USR1$'

expect_refused 127 'profile: ./nosuch: No such file' "$destall" profile -- ./nosuch
: > plain
expect_refused 126 'profile: ./plain: Permission denied' "$destall" profile ./plain
expect_refused 2 '.*' "$destall" profile
expect_refused 2 '--live steers nothing' "$destall" profile --live --continue true
expect_refused 2 '.*--for' "$destall" profile --for 10ms true
expect_refused 2 '.*no/such' "$destall" profile --json /no/such/file.json true

# Byte for byte, both ways.
head -c 300000 /dev/urandom > bytes
run "$destall" profile -- sh -c 'cat; printf no-newline' < bytes
expect_status 0
{ cat bytes; printf no-newline; } | cmp -s - "$work/out" || fail "standard output is another"
run sh -c '"$1" profile -- sh -c "echo told >&2" 2>&1 > /dev/null | grep -v "^destall: "' sh "$destall"
expect_out '^told$'
# Signals that were sent to us alone.
cat > trapped.sh <<'SCRIPT'
trap 'echo got; exit 9' TERM
touch reached
while :; do sleep 0.1; done
SCRIPT
"$destall" profile -- sh trapped.sh > got 2> /dev/null &
pid=$!
until [ -e reached ]; do sleep 0.01; done
kill -TERM $pid
status=0
wait $pid || status=$?
expect_status 9
grep -qx got got || fail "the signal was not passed on"
expect_nothing_left

#--- Python -------------------------------------------------------------------------

if [ -x $torch_python ]; then
	profile -- $torch_python -c 'print("here"); raise SystemExit(5)'
	expect_status 5
	expect_out '^here$'
	expect_one_line 'profile: the program has used no PyTorch data loader'
	for how in "$torch_python -I" "$torch_python -E" "$torch_python -S" "env -i $torch_python"; do
		profile -- $how -c 'raise SystemExit(5)'
		expect_status 5
		expect_one_line 'profile: no data loader was seen: .*python -I'
	done
	profile --fail-if 'speed<1' -- $torch_python -I -c 'raise SystemExit(5)'
	expect_status 1
	expect_err 'speed'
	# Ctrl-C, of what is not measured.
	rm -f reached
	run $torch_python "$top_srcdir/tests/python/profile_group.py" reached SIGINT \
	    "$destall" profile -- sh -c 'touch reached; exec sleep 60'
	expect_status 130
	expect_one_line 'profile: no data loader was seen: '
	expect_nothing_left
fi

#--- C ------------------------------------------------------------------------------

gen --count 400 set
profile --for 6s --name first -- "$destall" emulate --batch 4 --set size=32 --data set --step-ms 5 --epochs 9
expect_status 0
expect_no_out
expect_result 'verdict["bottleneck"] and rate["ingest"] > 400' 'doc["run"]["name"] == "first"' \
    'doc["run"]["id"]'
profile --for 3s --pass-epochs --fail-if 'speed>1' -- "$destall" emulate --batch 4 --set size=32 --data set \
    --step-ms 5 --epochs 1000
expect_status 3
expect_result 'rate["actual"] > 1'
profile --for 3s --pass-epochs --fail-if 'speed<1' -- "$destall" emulate --batch 4 --set size=32 --data set \
    --step-ms 5 --epochs 1000
expect_status 0

# One of which only steps are seen.
cat > steps.sh <<'SCRIPT'
i=0
while [ $i -lt 100 ]; do
	cat set/class*/*01.jpg > /dev/null
	sleep 0.01
	echo "step $i"
	i=$((i + 1))
done
exit 6
SCRIPT
profile --for 6s --step-marker stdout:step --step-samples 4 -- sh steps.sh
[ "$status" -eq 0 ] || [ "$status" -eq 6 ] || fail "exit status $status"
expect_out '^step 5$'
expect_result 'doc["mode"] == "runs" and rate["actual"] > 1 and rate["ingest"] is None' \
    'verdict["sentence"] and rate["loader_cached"] > 1 and rate["loader_cold"] > 1' \
    'any("not known" in c for c in doc["confessions"])' \
    'any("ingest, ingest_busy, prep: of this program only steps" in c for c in doc["confessions"])'
cat > steps.sh <<'SCRIPT'
for i in 1 2 3 4 5 6 7 8 9; do
	cat set/class*/*01.jpg > /dev/null
	echo "step $i" >> log
done
SCRIPT
profile --for 6s --step-marker "file:$PWD/log" -- sh steps.sh
expect_status 0
expect_result 'doc["mode"] == "runs" and verdict["sentence"]' 'rate["loader_cached"] and rate["loader_cold"]'
# By the C API, with its own samples; the speed of the watched one is told, too.
profile --for 6s -- $(harness stepper) 60 4 10 set/class000/*
[ "$status" -eq 0 ] || [ "$status" -eq 6 ] || fail "exit status $status"
expect_result 'doc["mode"] == "runs" and 40 < rate["actual"] < 400' \
    'rate["storage"] > 0 and doc["job"]["bytes_per_sample"] > 0' \
    'verdict["sentence"] and rate["loader_cached"] > 40 and rate["loader_cold"] > 4'
profile --live -- $(harness stepper) 60 4 10 set/class000/*
expect_status 6
expect_result 'doc["mode"] == "live" and 40 < rate["actual"] < 400'
$(harness stepper) 2 4 1 set/class000/* || [ $? -eq 6 ] || fail "nobody is there to be told"
# Ctrl-C ends what is measured, and not one run of three.
if [ -x $torch_python ]; then
	rm -f log
	cat > steps.sh <<-'SCRIPT'
	echo run >> runs
	i=0
	while [ $i -lt 2000 ]; do
		cat set/class000/* > /dev/null
		sleep 0.01
		echo "step $i" >> log
		[ $i -ne 20 ] || touch reached
		i=$((i + 1))
	done
	SCRIPT
	rm -f reached
	run $torch_python "$top_srcdir/tests/python/profile_group.py" reached SIGINT \
	    "$destall" profile --json result.json --step-marker "file:$PWD/log" -- sh steps.sh
	expect_status 0
	[ "$(wc -l < runs)" -eq 1 ] || fail "it was run again"
	expect_result 'rate["actual"] > 1 and rate["loader_cold"] is None' \
	    'any("loader_cold: it was not run so often" in c for c in doc["confessions"])'
	# One that is only watched ends by the signal, and so do we.
	rm -f log runs reached
	run $torch_python "$top_srcdir/tests/python/profile_group.py" reached SIGINT \
	    "$destall" profile --live --json result.json --step-marker "file:$PWD/log" -- sh steps.sh
	expect_status 130
	expect_result 'rate["actual"] > 1'
fi
