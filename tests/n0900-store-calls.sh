# SPDX-License-Identifier: Apache-2.0
# n0900: calls of those who read and write the run store fail, each once and from
# there on: one line or the whole answer; a run that was said to be stored is
# there, those before always.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/reports.sh"
need_preload
export DS_FAIL_LIMIT="${DS_FAIL_LIMIT:-6}"

keep 1
first=$id
cp "$store" good

# Reading.
before_failure() { rm -f store/*; cp good "$store"; }
check_after_failure() {
	if [ "$status" -eq 0 ]; then
		cmp -s expected "$work/out" || fail "with $1: status 0, but not the whole output"
		expect_no_err
	else
		expect_one_line ''
		[ ! -e "$store.damaged-1" ] || fail "with $1: thought damaged"
	fi
	cmp -s good "$store" || "$destall" report "$first" > /dev/null || fail "with $1: the run is lost"
}
for command in runs "report last" "report --as json last"; do
	"$destall" $command > expected
	for failure in malloc:ENOMEM realloc:ENOMEM open:EMFILE open:EIO pread:EIO \
	    fstat:EIO mmap:ENOMEM ftruncate:ENOSPC; do
		fail_calls "${failure%:*}" "${failure#*:}" "$destall" $command
	done
done

# Writing, into one that is there and into a new one.
fail_exe=keeper
check_after_failure() {
	cp "$work/out" out
	cp "$work/err" err
	said=$status
	[ ! -e "$store.damaged-1" ] || fail "with $1: thought damaged"
	"$destall" runs --json > runs.json || fail "with $1: the store cannot be read"
	if [ -e old ]; then
		grep -q "\"$first\"" runs.json || fail "with $1: the run before is lost"
	fi
	if [ "$said" -eq 0 ]; then
		grep -q "\"$(cat out)\"" runs.json || fail "with $1: a run that was stored is lost"
	else
		[ "$(wc -l < err)" -eq 1 ] || fail "with $1: not one line: $(cat err)"
	fi
}
for kind in old new; do
	rm -f old
	[ $kind = new ] || : > old
	before_failure() { rm -f store/*; [ ! -e old ] || cp good "$store"; }
	fail_counted=
	for failure in malloc:ENOMEM open:EIO pwrite:ENOSPC pwrite:EIO pwrite:short \
	    pread:EIO write:ENOSPC fsync:EIO fdatasync:EIO ftruncate:ENOSPC mmap:ENOMEM unlink:EIO; do
		fail_calls "${failure%:*}" "${failure#*:}" "$keeper" full 2
	done
done
