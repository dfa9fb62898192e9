# SPDX-License-Identifier: Apache-2.0
# a0009: the shell scripts are well-formed.
. "${top_srcdir:?run by make check}/tests/lib.sh"
need shellcheck

# check SHELL CODES FILE...: without remarks but those of these CODES.
check() {
	kind=$1 codes=$2
	shift 2
	shellcheck -S warning -e "$codes" -s "$kind" "$@" > "$work/out" 2>&1 || fail "shellcheck"
}

cd "$top_srcdir"
# SC1091: lib.sh is found at run time.  SC2154: its variables are set there.
# SC2086, SC2046: word splitting is how lists are kept.  SC3045: every sh of
# Debian's has ulimit -c.  SC2164: lib.sh sets -e.
codes=SC1091,SC2154,SC2034,SC2164
check bash $codes,SC2086 quickstart .ci/run tests/suite.sh tests/check-all tests/fresh-debian
# lib.sh apart from those who source it: what is named together is followed,
# and so would be read once more for each of them.
check sh $codes,SC2046,SC3043,SC3045 tests/[a-z]0*.sh
for helper in tests/soak/run tests/*.sh; do
	case $helper in
	tests/[a-z]0* | tests/suite.sh) ;;
	*) check sh $codes,SC2046,SC3043,SC3045 "$helper" ;;
	esac
done
