# SPDX-License-Identifier: Apache-2.0
# Files of a data set are moved, or removed, while a program that knows nothing
# of the cache has them open, or before it opens them: what it is told of a
# file is the file's own, and what it would change of a substitute whose file
# is gone is refused; the store's copy, which others read, stays what it was.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/preloaded.sh"
need_object
need_python

inside=$(harness inside)
export destall preload inside the_plain

#--- moved since they were listed ---------------------------------------------

# Each with a mode of its own, none of which is a substitute's; of three names
# the first will be removed, or the last.
mkdir set set/down copies unpacked
for name in plain renamed lower first.a second.a; do
	head -c 5000 /dev/urandom > set/$name
done
chmod 640 set/plain
chmod 751 set/renamed set/lower
chmod 604 set/first.a
chmod 660 set/second.a
for name in first second; do
	ln set/$name.a set/$name.b
	ln set/$name.a set/$name.c
done
find set -type f -exec touch -d '2021-02-03 04:05:06.789' {} +

cat > move.sh <<'END'
set -e
mv set/renamed set/moved
mv set/lower set/down/lower
rm set/first.a set/second.c
"$inside" look set/plain set/moved "$PWD/set/down/lower" set/first.b set/first.c set/second.a \
    set/second.b > look.txt
cp -p set/moved set/first.b set/second.b copies/
tar -cf copies.tar set
END

# Files that are too new are not cached yet.
is_warm() { "$preload" cat set/[!d]* > /dev/null && [ "$(set_of set cached_items)" -ge 4 ]; }

# What anybody can see of a file; times without fractions, as tar keeps them.
describe() { (cd "$1" && find . -type f -printf '%P %m %n %s %Ts\n' | sort); }

start_hub
await is_warm
hits=$(set_of set hits)
run "$preload" sh move.sh
expect_status 0
expect_no_err
[ "$(set_of set hits)" -gt "$hits" ] || fail "there were no hits: this shows nothing"
grep -v '^right$' look.txt | while read -r name rest; do
	[ "$rest" = "$(stat -c '%f %h %i %s %Y' "$name")" ] ||
	    echo "$name: $rest, not $(stat -c '%f %h %i %s %Y' "$name")"
done > wrong
[ ! -s wrong ] || fail "fstat: $(cat wrong)"
[ "$(wc -l < look.txt)" -eq 8 ] || fail "not all were looked at: $(cat look.txt)"
for name in moved first.b second.b; do
	[ "$(stat -c '%a %y' copies/$name)" = "$(stat -c '%a %y' set/$name)" ] ||
	    fail "cp -p: mode or time of $name: $(stat -c '%a %y' copies/$name)"
	cmp copies/$name set/$name || fail "cp -p: other bytes"
done
tar -xpf copies.tar -C unpacked
describe set > want
describe unpacked/set > got
cmp want got || fail "tar: $(diff want got)"
event 6 "files that were moved, or lost a name, since they were listed"
stop_hub

#--- removed while they are open ----------------------------------------------

cat > gone.sh <<'END'
set -e
"$destall" serve --cache 64M
until "$preload" cat set/*/*.bin > /dev/null &&
    "$destall" cache stat --json | grep -q '"cached_items": 20,'; do
	sleep 0.02
done
for file in set/*/00000[0-4].bin; do
	"$preload" "$inside" gone "$PWD/$file"
done
"$preload" "$the_plain" epochs=2 how=mixed set
"$destall" serve --stop
END

# gone LINES CMD...: five files go, and the others are read as ever.
gone() {
	lines=$1
	shift
	rm -rf set
	mkset set 20 2000 30000
	run "$@"
	expect_status 0
	[ "$(grep -c '^right$' "$work/out")" -eq 5 ] || fail "not five times right"
	expect_lines "$work/err" "$lines"
	grep -v '^right$' "$work/out" > plain.txt
	check_plain plain.txt 2 15
}
gone 0 sh gone.sh
event 6 "files that were removed while they were open"

# Where the store is a folder of /dev/shm, no mount protects it.
if unshare -Urm mount -t tmpfs none /dev/shm 2> /dev/null; then
	cat > enter.sh <<-'END'
		mount -t tmpfs -o size=64M none /dev/shm || exit 99
		echo 0 > /proc/sys/user/max_user_namespaces || exit 99
		exec setpriv --bounding-set -sys_admin sh gone.sh
	END
	gone 1 unshare -Urm sh enter.sh
	grep -q 'using /dev/shm' "$hub_log" || fail "it does not use /dev/shm"
	event 6 "files that were removed while they were open, of a store in /dev/shm"
else
	echo "no user namespaces here"
fi
