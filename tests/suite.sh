# SPDX-License-Identifier: Apache-2.0
# suite.sh: builds and tests in one folder after the other, and counts.
# Sourced by quickstart and by tests/check-all, which set $top (the source),
# $log (where the details go) and $jobs.

# build_in DIR OPTION...: configure once, then make.
build_in() {
	local dir=$1
	shift
	mkdir -p "$dir"
	if [ ! -f "$dir/Makefile" ]; then
		(cd "$dir" && "$top/configure" -q "$@") || return
	fi
	make -C "$dir" -j "$jobs"
}

# count_results DIR: passed, failed and skipped of the last `make check` there.
count_results() {
	find "$1" -name '*.trs' -exec grep -h '^:test-result:' {} + | awk '
		$2 == "PASS" { p++ } $2 == "SKIP" { s++ } $2 != "PASS" && $2 != "SKIP" { f++ }
		END { printf "%d %d %d\n", p, f, s }'
}

total_passed=0 total_failed=0 total_skipped=0

# suite TEXT DIR CMD...: runs a `make check` and adds what it counted.
suite() {
	local text=$1 dir=$2 start=$SECONDS counts ok=0
	shift 2
	printf '%-52s' "$text ..."
	echo "=== $text: $*" >> "$log"
	mkdir -p "$dir"
	find "$dir" -name '*.trs' -exec rm -f {} +
	"$@" >> "$log" 2>&1 || ok=1
	read -r -a counts < <(count_results "$dir")
	# A suite that did not come to its tests has failed too.
	[ "$ok" -eq 0 ] || [ "${counts[1]}" -gt 0 ] || counts[1]=1
	total_passed=$((total_passed + counts[0]))
	total_failed=$((total_failed + counts[1]))
	total_skipped=$((total_skipped + counts[2]))
	echo "${counts[0]} passed, ${counts[1]} failed, ${counts[2]} skipped ($((SECONDS - start)) s)"
	show_failures "$dir" "$ok"
	show_skips "$dir"
}

show_failures() {
	local trs
	[ "$2" -ne 0 ] || return 0
	find "$1" -name '*.trs' -exec grep -lE '^:test-result: (FAIL|ERROR|XPASS)' {} + |
	while read -r trs; do
		echo "  failed: ${trs#"$1"/}"
		tail -n 30 "${trs%.trs}.log" | sed 's/^/    /'
	done
	[ "$(count_results "$1" | cut -d' ' -f1-2)" != "0 0" ] || tail -n 30 "$log"
}

show_skips() {
	local trs
	find "$1" -name '*.trs' -exec grep -l '^:test-result: SKIP' {} + | sort |
	while read -r trs; do
		echo "  skipped: $(basename "${trs%.trs}"): $(sed -n 's/^SKIPPED: //p' "${trs%.trs}.log" | head -n 1)"
	done
}

# Tests wait for half of their time: one more at a time than processors.
check_jobs() { echo $((jobs + 1)); }

# check_in DIR CONFIGURE-ARGUMENT...
check_in() {
	build_in "$@" && make -C "$1" -j "$(check_jobs)" -k check
}

# check_protocol_in DIR CONFIGURE-ARGUMENT...: only units, what replays a corpus,
# and hub and cache at work: what a sanitizer has most to say about.
check_protocol_in() {
	build_in "$@" || return
	make -C "$1" -j "$(check_jobs)" -k check TESTS="$(protocol_tests "$1")"
}

protocol_tests() {
	unit_tests "$1"
	(cd "$top" && printf '%s\n' tests/c04*.sh tests/n0401*.sh tests/n0404*.sh tests/x050*.sh)
}

# unit_tests DIR: those that were built there, and what replays a corpus.
unit_tests() {
	(
		cd "$top" || exit
		! grep -q '^#define WITH_CMOCKA 1' "$1/config.h" || printf '%s\n' tests/unit_*.c
		printf '%s\n' tests/fuzz/fuzz_*.c
	) | sed 's/\.c$//'
}

#--- as root, and as an ordinary user ------------------------------------------

# Root can write everywhere and hides mistakes, so most tests are run as nobody,
# who builds the released tarball in a folder of his own: that tests the tarball
# too.  Root runs the others, and those that look at who runs them, which are run
# by both.  (make check-all: all as root, and all as nobody.)

# The lints (a), the tests of the harness (b00) and of pixels (d), the model, and
# those that are long, to which it is the same who asks.
of_root='/(a0|b00|d0|c0402-|c0601-|c0711-|c0716-|l0702-|m093[013459]-|n0204-|n0810-|n0826-|n093[02]-|p080[01345678]-|p0810-|p0900-)'
who_asks='id -u|is_root|geteuid|getuid|chmod|chown|cgroup'

# all_tests DIR: of a build there; jobs of PyTorch, which take longest, before what
# is short, so that none is left alone at the end.
all_tests() {
	(cd "$top" && printf '%s\n' tests/[a-z]0*.sh) | sort -r
	unit_tests "$1"
}

root_tests() {
	local test
	for test in $(all_tests "$1"); do
		if echo "$test" | grep -Eq "$of_root" ||
		    cat "$top/$test" "$top/$test.c" 2> /dev/null | grep -Eq "$who_asks"; then
			echo "$test"
		fi
	done
}

user_tests() {
	all_tests "$1" | grep -Ev "$of_root"
}

check_as_root() {
	build_in "$@" && make -C "$1" -j "$(check_jobs)" -k check TESTS="$(root_tests "$1")"
}

# check_as_user DIR BUILD TESTS: in DIR, of the tarball that root's BUILD makes.
check_as_user() {
	local dir=$1 build=$2 tests=$3
	make -C "$build" dist && chown -R 65534:65534 "$dir" &&
	    cp "$build"/destall-*.tar.xz "$dir" || return
	setpriv --reuid 65534 --regid 65534 --clear-groups \
	    env -u SUDO_USER HOME="$dir" USER=nobody LOGNAME=nobody bash -c '
		set -e
		cd "$1"
		tar -xJf destall-*.tar.xz
		cd destall-*/
		mkdir build
		cd build
		../configure -q --enable-werror --enable-crash-points
		make -j "$2"
		make -j "$3" -k check TESTS="$4"' \
	    - "$dir" "$jobs" "$(check_jobs)" "$tests"
}

#--- what CI runs -----------------------------------------------------------------

# The last line, by which CI counts.
suites_end() {
	echo "$total_passed passed, $total_failed failed, $total_skipped skipped"
	[ "$total_failed" -eq 0 ]
}

run_suites() {
	local user_dir
	if [ "$(id -u)" -eq 0 ]; then
		suite "Testing as root" build/test \
		    check_as_root build/test --enable-werror --enable-crash-points
		user_dir=$(mktemp -d)
		suite "Testing the tarball as an ordinary user" "$user_dir" \
		    check_as_user "$user_dir" build/test "$(user_tests build/test)"
		rm -rf "$user_dir"
	else
		suite "Testing" build/test check_in build/test --enable-werror --enable-crash-points
	fi
	suite "Testing with address and undefined sanitizers" build/asan \
	    check_protocol_in build/asan --enable-werror --enable-crash-points \
	    --enable-sanitize=address,undefined CFLAGS="-O1 -g"
	suites_end
}
