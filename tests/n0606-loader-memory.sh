# SPDX-License-Identifier: Apache-2.0
# n0606: every allocation fails while a loader works, once and from there on, in
# a job that tries again: all samples, each once, if memory comes back; if not,
# those up to somewhere, and a line that says it is memory and no picture.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"
. "$top_srcdir/tests/emulate.sh"
is_sanitized && skip "allocations do not fail under a sanitizer"
loads=$(harness loads)
fail_exe=loads

gen --count 10 set
: > set/class001/empty.jpg

check_samples() {
	if [ "$status" -eq 0 ]; then
		cmp -s expected "$work/out" || fail "with $1: status 0, but other samples"
		[ ! -f ledger ] || cmp -s expected.ledger ledger || fail "with $1: another ledger"
		return
	fi
	# Those before it, and no others.
	for kind in -v ''; do
		grep $kind '^bad' expected > whole || :
		grep $kind '^bad' "$work/out" > part || :
		head -n "$(wc -l < part)" whole | cmp -s - part ||
		    fail "with $1: lost or doubled: $(diff whole part | head -n 3)"
	done
	[ ! -f ledger ] || head -c "$(wc -c < ledger)" expected.ledger | cmp -s - ledger ||
	    fail "with $1: another ledger"
}

check_after_failure() {
	case $1 in
	*+*) ;;
	*) [ "$status" -eq 0 ] || fail "with $1: memory came back, but: $(cat "$work/err")" ;;
	esac
	check_samples "$1"
	[ "$status" -eq 0 ] || grep -Eq 'memory|start a thread' "$work/err" ||
	    fail "with $1: no word of memory: $(cat "$work/err")"
}
before_failure() { rm -f ledger; }

try() {
	before_failure
	run "$loads" set batch=4 size=16 epochs=2 on-bad=skip ledger=ledger "$@"
	expect_status 0
	cp "$work/out" expected
	mv ledger expected.ledger
	[ "$(grep -c '^bad' expected)" -eq 2 ] && [ "$(grep -vc '^bad' expected)" -eq 20 ] ||
	    fail "not 20 samples and a bad one in each epoch"
	for call in malloc calloc realloc posix_memalign aligned_alloc; do
		DS_FAIL_LIMIT=${DS_FAIL_LIMIT:-12} fail_calls $call ENOMEM "$loads" set batch=4 size=16 \
		    epochs=2 on-bad=skip ledger=ledger "$@"
	done
}

try threads=1 readers=0 prefetch=0
try threads=2 readers=2 prefetch=2
# By way of the stage: what it lacks memory for, the job makes itself.
start_hub
try threads=2 readers=0 share=yes
stop_hub
