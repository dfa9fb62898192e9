# SPDX-License-Identifier: Apache-2.0
# profiled.sh: what the tests of `destall profile` share, after lib.sh.
#
# Figures are of a machine that does other things, too: a test whose figures are off
# is tried again, four times.  Whatever else fails has failed.  Where the host of a
# virtual machine took much of its processors' time in every one of them, figures are not
# for us to judge, and the test is skipped.
noisy_percent=4

# Ticks since the start: taken by the host, and all but idle ones.
processor_ticks() { awk '/^cpu / { print $9, $2 + $3 + $4 + $7 + $8 + $9; exit }' /proc/stat; }

# stolen_percent TICKS: of what was wanted since then.
stolen_percent() {
	echo "$1 $(processor_ticks)" |
	    awk '{ wanted = $4 - $2; print (wanted > 0 ? int(100 * ($3 - $1) / wanted) : 0) }'
}

if [ -z "${PROFILE_TRY-}" ]; then
	is_noisy=true
	for PROFILE_TRY in 1 2 3 4 5; do
		export PROFILE_TRY
		status=0
		before=$(processor_ticks)
		# Not below this one's: names of sockets must be short.
		TMPDIR=$keep_tmp "$(readlink "/proc/$$/exe")" "$top_srcdir/tests/$test_name" || status=$?
		[ $status -eq 75 ] || exit $status
		stolen=$(stolen_percent "$before")
		echo "try $PROFILE_TRY: the host took $stolen % of the processor time that was wanted"
		[ "$stolen" -ge $noisy_percent ] || is_noisy=false
	done
	! $is_noisy || skip "figures were off five times, and the host took $noisy_percent % of the processors or more"
	exit 1
fi

# unsettled TEXT: a figure is off.
unsettled() {
	echo "UNSETTLED: $*"
	head -c 2000 "$work/err"
	exit 75
}

# Debian's, wherever another Python stands first; tests/compat/run has one of its own.
torch_python=${PROFILE_PYTHON:-/usr/bin/python3}
job=$top_srcdir/tests/python/profile_job.py
export PYTHONDONTWRITEBYTECODE=1

need_torch() {
	! is_sanitized || skip "Python cannot load a sanitized library"
	[ -x $torch_python ] || skip "there is no $torch_python"
	for module in numpy torch "$@"; do
		$torch_python -c 'import importlib.util, sys
sys.exit(importlib.util.find_spec(sys.argv[1]) is None)' "$module" ||
		    skip "$torch_python has no module $module"
	done
}

# profile OPTION... -- CMD...: as run, with the result in result.json.
profile() {
	rm -f result.json reached
	run "$destall" profile --json "$PWD/result.json" "$@"
	expect_nothing_left
}

# profile_job OPTION...: a profile of the job with these, and with $profile_options.
profile_options="--for 6s"
profile_job() { profile $profile_options -- $torch_python "$job" "$@"; }

# Sessions, and batches for replaying, are gone with the command.
expect_nothing_left() {
	[ -z "$(ls -A "$XDG_RUNTIME_DIR")" ] || fail "left in the runtime folder: $(ls -A "$XDG_RUNTIME_DIR")"
}

# expect_result EXPRESSION...: each holds of result.json, which is doc; share, rate:
# of it; training: the loader that trains.
expect_result() {
	[ -s result.json ] || fail "there is no result"
	"${PYTHON:-$torch_python}" -c '
import json, sys
doc = json.load(open("result.json"))
assert doc["schema_version"] == 1
share, rate, verdict = doc["shares"], doc["rates_samples_per_s"], doc["verdict"]
training = [l for l in doc["loaders"] if l["is_training"]]
for text in sys.argv[1:]:
    if not eval(text):
        sys.exit("not so: %s: %s" % (text, json.dumps({k: v for k, v in doc.items()
                                                       if k != "observations"})))' "$@" \
	    2> "$work/wrong" || unsettled "$(tail -n 1 "$work/wrong")"
}

# expect_stall NAME LOW HIGH: this is what it waits for most, and it waits for a share
# of its time within that, in percent; none: it hardly waits.  A machine with other
# things to do is slow to hand over: that is not told apart here.
expect_stall() {
	if [ "$1" = none ]; then
		expect_result 'share["compute"] > 0.8'
	else
		expect_result "verdict['bottleneck'] == '$1'" "$2 <= 100 * (1 - share['compute']) <= $3"
		grep -Eq "^[0-9]+ % of your epoch is $1 stall" "$work/err" ||
		    unsettled "it is not said that it waits for $1"
	fi
}

# expect_nothing_saved WHEN: of all that the job saves.
expect_nothing_saved() {
	[ -z "$(find . -name 'saved.*')" ] || fail "$1: saved: $(find . -name 'saved.*' | tr '\n' ' ')"
}
