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
	(
		cd "$top" || exit
		! grep -q '^#define WITH_CMOCKA 1' "$1/config.h" || printf '%s\n' tests/unit_*.c
		printf '%s\n' tests/fuzz/fuzz_*.c
	) | sed 's/\.c$//'
	(cd "$top" && printf '%s\n' tests/c04*.sh tests/n0401*.sh tests/n0404*.sh tests/x050*.sh)
}

# Root can write everywhere and hides mistakes.  So root runs everything a
# second time as nobody, who builds the released tarball in a folder of his
# own: that tests the tarball too.
check_as_user() {
	local dir=$1
	make -C "$top/build/test" dist && chown -R 65534:65534 "$dir" &&
	    cp "$top"/build/test/destall-*.tar.xz "$dir" || return
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
	    - "$dir" "$jobs" "$(check_jobs)" "$(behaviour_tests)"
}

# All but the lints (a), the tests of the harness (b00) and of pixels (d), the
# model, and those that are long, to which it is the same who asks.
behaviour_tests() {
	(cd "$top" && printf '%s\n' tests/unit_*.c tests/fuzz/fuzz_*.c \
	    tests/b0[1-9]*.sh tests/[ce-z]0*.sh) |
	    grep -Ev '/(c0402|c0711|c0716|l0702|m093[01345]|n0204|n0810|n0826|n093[02]|p0800|p0801|p080[4-8]|p0810|p0900)-' |
	    sed 's/\.c$//'
}

# The last line, by which CI counts.
suites_end() {
	echo "$total_passed passed, $total_failed failed, $total_skipped skipped"
	[ "$total_failed" -eq 0 ]
}

run_suites() {
	local user_dir
	suite "Testing" build/test check_in build/test --enable-werror --enable-crash-points
	if [ "$(id -u)" -eq 0 ]; then
		user_dir=$(mktemp -d)
		suite "Testing the tarball as an ordinary user" "$user_dir" check_as_user "$user_dir"
		rm -rf "$user_dir"
	fi
	suite "Testing with address and undefined sanitizers" build/asan \
	    check_protocol_in build/asan --enable-werror --enable-crash-points \
	    --enable-sanitize=address,undefined
	suites_end
}
