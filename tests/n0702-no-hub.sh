# SPDX-License-Identifier: Apache-2.0
# Programs with the preload object, and no hub that would serve them: none runs;
# it is of another version, speaks nonsense, or hangs up (row 37); it is another
# user's; its folder is gone (row 36); it is in another pid namespace (row 17);
# its store is a folder of /dev/shm (row 19); it stands still.  They read the
# cache or the real file, every byte, and have one line at most for it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/preloaded.sh"
need_object
need_python

items=40
mkset set $items 2000 30000
chmod -R a+rX set

# four MOST OPTION...: a job of four readers reads all there is, with so many
# lines at most.
four() {
	most=$1
	shift
	bounded "$preload" sh "$work/four.sh" "$@" set > four.out 2> four.err &
	wait_four $! 1 $items "$most"
}

# expect_line REGEX: that was it.
expect_line() {
	grep -Eq "^destall: $1: files are read as without destall\$" four.err ||
	    fail "no line like: $1: $(cat four.err)"
}

# None, and nowhere.  Where no folder is the hub's, and ours alone, processes
# cannot know of each other's line (preload/word.h).
four 1
expect_line "no hub runs at $DESTALL_HUB"
DESTALL_HUB=s four 4
DESTALL_HUB=$work/run/none/s four 4

# It listens, and is no hub of ours.
cat > other.py <<'END'
import socket, struct, sys
how, path = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(path)
listener.listen(64)
while True:
    sock, _ = listener.accept()
    hello = sock.recv(8192)
    magic, protocol, kind, length, serial = struct.unpack("=IHHII", hello[:16])
    if how == "version":
        text = b"the hub is 9.9.9, this client another: use one version"
        body = struct.pack("=II", 71, len(text)) + text
        sock.send(struct.pack("=IHHII", magic, protocol, 3, len(body), serial) + body)
    elif how == "protocol":
        sock.send(struct.pack("=IHHII", magic, protocol + 1, 2, 0, serial))
    elif how == "garbage":
        sock.send(bytes(range(200)))
    elif how == "welcome":  # without a descriptor
        sock.send(struct.pack("=IHHIIQI", magic, protocol, 2, 12, serial, 1, 1))
    sock.close()
END
for how in version protocol garbage welcome close; do
	"$PYTHON" other.py $how "$DESTALL_HUB" &
	other=$!
	wait_file "$DESTALL_HUB"
	four 1
	[ -s four.err ] || fail "$how: no line at all"
	[ $how != version ] || expect_line 'the hub is 9.9.9, .*'
	kill $other
	wait $other 2> /dev/null || :
	rm "$DESTALL_HUB"
done
event 8 "jobs without a hub that would serve them"

# Another user's.
if is_root && setpriv --reuid 65534 --regid 65534 --clear-groups true 2> /dev/null; then
	as_nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
	chmod 755 "$work" "$work/cwd"
	start_hub
	mkdir -m 777 open theirs
	chmod 777 "$work/run"
	for i in 1 2; do	# its folder can be seen, or it cannot
		(cd theirs && bounded $as_nobody "$preload" "$the_plain" "$data") > r1.txt 2> four.err ||
		    fail "as another user: $(cat r1.txt four.err)"
		check_plain r1.txt 1 $items
		expect_lines four.err 1
		[ -s four.err ] || fail "as another user: no line"
		chmod 700 "$work/run"
	done
	stop_hub
	mkdir -m 700 foreign
	chown 65534:65534 foreign
	DESTALL_HUB=$PWD/foreign/s $as_nobody "$destall" serve 2> foreign.err || fail "$(cat foreign.err)"
	DESTALL_HUB=$PWD/foreign/s four 4
	[ -s four.err ] || fail "of another user: no line"
	DESTALL_HUB=$PWD/foreign/s $as_nobody "$destall" serve --stop
	event 3 "hubs of other users"
else
	echo "of other users: not without their rights"
fi

# Its folder is removed: those who are there go on, and the hub leaves with
# them; who comes then finds none.
has_four() { read_state && [ "$clients" -ge 4 ]; }
mkdir -m 700 "$work/run/d"
(
	export DESTALL_HUB="$work/run/d/s"
	hub_log=$work/run/d/hub.log
	start_hub
	hub=$(hub_pid)
	"$preload" sh "$work/four.sh" epochs=2 end=end pace=1000 set > four.out 2> four.err &
	job=$!
	await has_four
	rm -r "$work/run/d"
	: > end
	wait_four $job 2 $items 0
	wait_dead "$hub"
	four 4
) || exit 1

# In another pid namespace.
unshare=
for how in "unshare -pf" "unshare -Urpf"; do
	[ "$($how sh -c 'echo $$' 2> /dev/null)" != 1 ] || { unshare=$how; break; }
done
start_hub
if [ -n "$unshare" ]; then
	bounded $unshare "$preload" "$the_plain" epochs=2 set > r1.txt 2> four.err ||
	    fail "in a pid namespace: $(cat r1.txt four.err)"
	check_plain r1.txt 2 $items
	expect_lines four.err 1
	event 1 "pid namespace: $(set_of set cached_items) of $items files cached from within"
else
	echo "no pid namespaces here"
fi
stop_hub

# Where the store is a folder, too; and after its hub was killed and the next
# one has cleaned up.
if unshare -Urm mount -t tmpfs none /dev/shm 2> /dev/null; then
	cat > inside.sh <<-END
		set -e
		"$destall" serve --cache 64M
		"$preload" "$the_plain" epochs=2 set > shm1.txt
		rm -f end
		"$preload" "$the_plain" epochs=2 how=mixed end=end pace=1000 set > shm2.txt &
		reader=\$!
		until "$destall" cache stat --json | grep -q '"clients": 1,'; do sleep 0.01; done
		kill -KILL \$(sed -n 's/.* process \\([0-9]*\\), at .*/\\1/p' "$hub_log" | tail -n 1)
		"$destall" serve --cache 64M || "$destall" serve --cache 64M
		# It needs the new one, and finds it.
		until "$destall" cache stat --json | grep -q '"cached_items": $items,'; do sleep 0.05; done
		: > end
		wait \$reader
		"$destall" serve --stop
	END
	cat > enter.sh <<-'END'
		mount -t tmpfs -o size=64M none /dev/shm || exit 99
		echo 0 > /proc/sys/user/max_user_namespaces || exit 99
		exec setpriv --bounding-set -sys_admin sh inside.sh
	END
	run unshare -Urm sh enter.sh
	[ "$status" -eq 0 ] || { cat "$hub_log"; fail "without user namespaces: $status"; }
	expect_lines "$work/err" 2
	grep -q 'using /dev/shm' "$hub_log" || fail "it does not use /dev/shm"
	check_plain shm1.txt 2 $items
	check_plain shm2.txt 2 $items
	event 1 "store in /dev/shm, its hub killed and another started"
else
	echo "no user namespaces here"
fi

# It stands still: a program waits for it once, and not longer than for any
# answer, whether it comes then or was there before.
expect_one_wait() {
	for file in "$@"; do
		[ "$(word "$file" longest slow)" -le 1 ] ||
		    fail "a hub that stands still was waited for more than once: $(cat "$file")"
		[ "$(word "$file" longest longest)" -lt 9000000 ] ||
		    fail "a hub that stands still was waited for longer: $(cat "$file")"
	done
}
need_crash_points
start_hub
hub=$(hub_pid)
pace=0
[ "${DS_KILLS:-1}" -eq 1 ] || pace=150000	# longer than it is not asked again
for nth in 1 10; do
	DS_DIE_AT=bring.published:$nth:stop "$preload" "$the_plain" epochs=3 \
	    pace=$pace set > there$nth.txt 2> there$nth.err &
	eval "there$nth=$!"
	wait_stopped $!
done
kill -STOP "$hub"
bounded "$preload" sh "$work/four.sh" epochs=3 set > four.out 2> four.err &
job=$!
kill -CONT $there1 $there10
wait_plain $there1 there1.txt 3 $items
wait_plain $there10 there10.txt 3 $items
wait_four $job 3 $items
kill -CONT "$hub"
for nth in 1 10; do
	expect_lines there$nth.err 1
	grep -q '^destall: the hub does not answer: ' there$nth.err || fail "there$nth: no line"
done
expect_one_wait r?.txt there1.txt there10.txt
stop_hub
event 6 "programs whose hub stood still"
