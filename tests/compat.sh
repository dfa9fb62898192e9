# SPDX-License-Identifier: Apache-2.0
# compat.sh: what tests share that compare a program without the cache with the
# same under it.  Sourced after lib.sh.
#
# A test writes a script of steps, $work/steps, which sources this file's second
# half (steps.sh, made below) and reads the data set in ./set:
#
#     step NAME CMD...      exit status, output and errors of CMD
#     reads N NAME CMD...   the same; N files of the set or more are opened for
#                           it, which must be hits where all is cached
#
# compare_all runs the script without destall, then in every way there is, each
# with a set made anew from $work/origin; whatever the script left in ./result
# must be the same: bytes, names, kinds, modes and owners of all, and in
# ./result/kept times and links, too.

. "$top_srcdir/tests/cache.sh"

need_hub() {
	! is_sanitized || skip "no preloaded object in a sanitized build"
	need_python
}

# settle FOLDER...: until no file in them is so fresh that another change could
# bear the same time: such a one is not cached yet (preload/bring.c).
settle() {
	while :; do
		since=$(date +%s.%N | awk '{ printf "@%.3f", $1 - 0.1 }')
		[ -n "$(find "$@" -newerct "$since" -print -quit)" ] || break
		sleep 0.02
	done
}

# age FOLDER...: their files are old, by what anybody can see.
age() {
	find "$@" -type f -exec touch -d '2021-02-03 04:05:06.789' {} +
	settle "$@"
}

cat > "$work/steps.sh" << 'END'
step() {
	step_name=$1
	shift
	step_status=0
	"$@" > "result/$step_name.out" 2> "result/$step_name.err" || step_status=$?
	echo "$step_status" > "result/$step_name.status"
}

hits() {
	"$destall" cache stat --json |
	    sed -n 's/^ *"hits": \([0-9]*\),$/\1/p;/"jobs"/q' | awk '{ n += $1 } END { print n }'
}

reads() {
	reads_least=$1
	shift
	case $how in
	plain | cold | part) step "$@" ; return ;;
	esac
	hits_before=$(hits)
	step "$@"
	hits_after=$(hits)
	[ $((hits_after - hits_before)) -ge "$reads_least" ] ||
	    echo "$1: $((hits_after - hits_before)) hits, not $reads_least" >> ../hits
}
END

# describe FOLDER: what can be compared of it.
describe() {
	(
		cd "$1" || exit
		find . -print0 | sort -z | xargs -0 stat -c '%n %F %A %a %U %G' |
		    grep -v '/kept'
		find . -name kept -prune -o -type f -printf '%p %s\n' | sort
		[ ! -d kept ] || find kept -type f -print0 | sort -z |
		    xargs -0 -r stat -c '%n %A %a %h %U %G %s %Y %y'
		[ ! -d kept ] || find kept ! -type f -print0 | sort -z |
		    xargs -0 -r stat -c '%n %F %A %a %U %G %N'
	)
}

# try_out HOW CMD...: CMD runs the script, in a folder of its own name.
try_out() {
	how=$1
	shift
	export how
	rm -rf "$work/at"
	mkdir -p "$work/at/result"
	cp -a "$work/origin" "$work/at/set"
	rm -f "$work/hits"
	settle "$work/at/set"
	run_in "$@"
	describe "$work/at/result" > "$work/$how.list"
	rm -rf "${work:?}/$how"
	mv "$work/at/result" "$work/$how"
}

run_in() {
	cd "$work/at" || exit
	[ "$how" != warm ] || prime
	run bounded "$@"
	[ "$status" -eq 0 ] || fail "$how: the script itself: exit status $status"
	expect_no_out
	cd "$work/cwd" || exit
}

# Everything is cached that ever will be.
prime() {
	"$destall" run --data set -- find set -type f -exec cat {} + > /dev/null 2> "$work/err" ||
	    fail "cannot fill the cache"
}

# expect_same HOW: as without destall, and every step that had to had hits.
expect_same() {
	[ ! -s "$work/hits" ] || fail "$1: $(cat "$work/hits")"
	diff "$work/plain.list" "$work/$1.list" > "$work/out" || fail "$1: other files than without"
	diff -r "$work/plain" "$work/$1" > "$work/out" || fail "$1: other results than without"
}

# Never two data sets of two tries in one hub: they have the same path.
compare_run() {
	how_name=$1
	shift
	try_out "$how_name" "$destall" run "$@" --data set -- sh -eu "$work/steps"
	! grep -v '^destall: run: ' "$work/err" || fail "$how_name: a line of the object's"
	stop_hub
	expect_same "$how_name"
}

compare_env() {
	try_out env sh -eu -c '
		eval "$("$destall" env --data set)"
		DESTALL=1
		export DESTALL
		find set -type f -exec cat {} + > /dev/null
		exec sh -eu "$1"' - "$work/steps"
	stop_hub
	expect_same env
}

compare_all() {
	export destall
	try_out plain sh -eu "$work/steps"
	expect_no_err
	compare_run cold
	compare_run warm
	compare_run part --cache 35%
	compare_env
}
