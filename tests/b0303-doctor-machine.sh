# SPDX-License-Identifier: Apache-2.0
# doctor: on machines with little, and as other users; nothing is left behind.
. "${top_srcdir:?run by make check}/tests/lib.sh"

rows() { sed -n 's/^  \(ok\|limited\|missing\) .*/\1/p' "$work/out" | wc -l; }

# Few descriptors: what could not be tried says so, and nothing is blamed.
need prlimit
for limit in 4 5 6 8 12 64; do
	run prlimit --nofile=$limit:$limit "$destall" doctor
	# The dynamic linker needs some of its own in a sanitized build.
	[ $limit -lt 8 ] && [ $status -eq 127 ] && continue
	expect_status 0
	expect_no_err
	[ "$(rows)" -ge 38 ] || fail "only $(rows) rows with $limit descriptors"
	expect_out '^  limited +descriptors'
	! grep -q '^  missing  *pidfd' "$work/out" || fail "pidfds were blamed"
done

# No process may be started (root is not held by this limit; the search for
# leaks of a sanitized build starts a thread).
if ! is_root && ! is_sanitized; then
	run env COLUMNS=200 prlimit --nproc=1:1 "$destall" doctor
	expect_status 0
	expect_out 'could not be started: .*EAGAIN'
fi

# SIGCHLD ignored by whoever started us.
run sh -c 'trap "" CHLD; exec "$0" doctor' "$destall"
expect_status 0
expect_out '^  (ok|missing) +user namespaces'

# The runtime directory, and a socket with too long a name.
run "$destall" doctor
expect_out "^  ok +runtime directory  "
[ -z "$(ls -A "$XDG_RUNTIME_DIR")" ] || fail "something was made in XDG_RUNTIME_DIR"
mkdir -m 755 "$XDG_RUNTIME_DIR/destall"
run "$destall" doctor
expect_out "^  missing +runtime directory"
expect_out "cache and sharing do not work without [0-9]+ of them"
long=/$(printf '%0200d' 0)
run env DESTALL_HUB="$long" "$destall" doctor
expect_status 0
expect_out "^  missing +runtime directory"

# A socket that each folder would find elsewhere; a place others can take away.
run env DESTALL_HUB=./ctl.sock "$destall" doctor
expect_out '^  missing +runtime directory +DESTALL_HUB=./ctl.sock is not an'
rmdir "$XDG_RUNTIME_DIR/destall"
chmod 777 "$XDG_RUNTIME_DIR"
run "$destall" doctor
expect_out "^  missing +runtime directory"
chmod 700 "$XDG_RUNTIME_DIR"

# Hostile values in the environment.
for value in "" relative /no/such/dir /dev/null "$(printf '/a\033[31mb\n')" "$long$long$long"; do
	run env TMPDIR="$value" XDG_RUNTIME_DIR="$value" DESTALL_HUB="$value" \
	    VIRTUAL_ENV="$value" CONDA_PREFIX="$value" CUDA_HOME="$value" \
	    HOME="$value" PATH="$value:$PATH" "$destall" doctor
	expect_status 0
	expect_no_err
	! grep -q "$(printf '\033')" "$work/out" || fail "escape sequences came through"
done

# No child cgroup stays, whoever else is running doctor now.
"$destall" doctor > "$work/out" &
pid=$!
wait $pid
if [ -d /sys/fs/cgroup ]; then
	left=$(find /sys/fs/cgroup -name "destall-doctor-$pid" 2>/dev/null || :)
	[ -z "$left" ] || fail "left behind: $left"
fi

is_root || exit 0

# An ordinary user, where we can become one and he can reach the program.
chmod 755 "$work"
if setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$destall"; then
	run setpriv --reuid 65534 --regid 65534 --clear-groups \
	    env -u XDG_RUNTIME_DIR TMPDIR=/tmp "$destall" doctor
	expect_status 0
	expect_no_err
	expect_out '^  ok +memfd seals'
	expect_out '^  (ok|limited) +page eviction|the temporary directories are all in memory'
fi

# A container without /proc and /sys; the search for leaks of a sanitized build
# needs /proc.
if ! is_sanitized && unshare -m true 2>/dev/null; then
	run unshare -m --propagation private sh -c 'umount -l /sys && umount -l /proc && exec "$0" doctor' "$destall"
	if ! grep -q 'umount:' "$work/err"; then
		expect_status 0
		expect_no_err
		expect_out '^  missing +cgroup '
		expect_out '^  missing +pressure'
		[ "$(rows)" -ge 38 ] || fail "only $(rows) rows without /proc"
	fi
fi
