# SPDX-License-Identifier: Apache-2.0
# faults.sh: what the fault tests of the cache share, after lib.sh.

. "$top_srcdir/tests/cache.sh"

# set_of ROOT NAME...: numbers of one data set, each on a line; ROOT is the
# end of its path.
set_of() {
	"$destall" cache stat --json | "$PYTHON" -c '
import json, sys
for at in json.load(sys.stdin)["datasets"]:
    if at["root"].endswith("/" + sys.argv[1]):
        for name in sys.argv[2:]:
            print(at[name])
        break
else:
    sys.exit("no data set " + sys.argv[1])' "$@"
}

# expect_set ROOT NAME NUMBER
expect_set() {
	set_got=$(set_of "$1" "$2") || fail "$1 is not cached"
	[ "$set_got" = "$3" ] || fail "$1: $2 is $set_got, not $3"
}

# expect_job FILE NAME NUMBER: of the line for all that job printed.
expect_job() {
	[ "$(word "$1" all "$2")" = "$3" ] ||
	    fail "$1: $2 is $(word "$1" all "$2"), not $3: $(cat "$1")"
}

# bytes_of FOLDER: of all files in it.
bytes_of() { find "$1" -type f -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }'; }

# end_hub: whatever state it is in; the next test starts another.
end_hub() {
	[ ! -S "$DESTALL_HUB" ] || "$destall" serve --stop > /dev/null 2>&1 || :
}

# fail_each CALL:ERRNO CMD...: as fail_calls, but a call that is interrupted, or
# is told to come again, or that finds the other side gone, is so once: for ever
# would be no fault, but a wait (jobs that never find a hub: n0402, n0702).
fail_each() {
	each=$1
	shift
	case $each in
	*:EINTR | *:EAGAIN | *:ECONNABORTED | *:ECONNREFUSED) ;;
	*) fail_calls "${each%:*}" "${each#*:}" "$@"; return ;;
	esac
	fail_call=${each%:*}
	count_calls "$@"
	for k in $(choose_calls "$fail_total"); do
		fail_once "${each%:*}:$k:${each#*:}" "$@"
		each_runs=$((${each_runs:-0} + 1))
	done
	event "${each_runs:-0}" "failing calls of ${each%:*} (${each#*:}, of $fail_total)"
	each_runs=0
}
