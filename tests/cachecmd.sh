# SPDX-License-Identifier: Apache-2.0
# cachecmd.sh: what the tests of `destall cache` share.  Sourced after lib.sh.

. "$top_srcdir/tests/cache.sh"

# make_data DIR COUNT: files of 1000 bytes each, every one of them another, and
# none so new that the preload object would leave it alone (preload/bring.h).
make_data() {
	mkdir -p "$1/a" "$1/b"
	n=0
	while [ $n -lt "$2" ]; do
		folder=a
		[ $((n % 2)) -eq 0 ] || folder=b
		printf '%01000d' $n > "$1/$folder/$n"
		n=$((n + 1))
	done
	find "$1" -type f -exec touch -d '2020-02-02 02:02:02.02' {} +
}

# check_json PYTHON: over the document of `stat --json`, as d; s is its first
# data set.
check_json() {
	[ -n "${PYTHON-}" ] || return 0
	"$destall" cache stat --json > "$work/stat.json" || fail "stat --json"
	"$PYTHON" -c '
import json, sys
d = json.load(open(sys.argv[1]))
s = d["datasets"][0] if d["datasets"] else None
'"$1" "$work/stat.json" || fail "$(cat "$work/stat.json")"
}

# hold DIR [SHARE]: a job that has read it and keeps it open; its number in
# $holder.
hold() {
	rm -f "$work/hold.in" "$work/hold.out"
	mkfifo "$work/hold.in" "$work/hold.out"
	"$(harness holder)" "$@" < "$work/hold.in" > "$work/hold.out" &
	holder=$!
	exec 8> "$work/hold.in" 9< "$work/hold.out"
	read -r word <&9 || word="nothing: it died"
	[ "$word" = ready ] || fail "the holder said $word"
}

let_go() {
	exec 8>&- 9<&-
	wait "$holder" || fail "the holder failed"
}
