# SPDX-License-Identifier: Apache-2.0
# doctor: interpreters that lie, hang, flood, crash or run away.
. "${top_srcdir:?run by make check}/tests/lib.sh"
mkdir bin
bin=$PWD/bin
escape=$(printf '\033')

# put NAME: standard input becomes that program.  Renamed into place, never
# written to: what has the name may be a link to the system's own Python, and
# root could write through it.
put() {
	cat > "$bin/new.$$"
	chmod 755 "$bin/new.$$"
	mv -f "$bin/new.$$" "$1"
}

# fake TEXT: what stands first on PATH as python3.
fake() {
	printf '#!/bin/sh\n%s\n' "$1" | put "$bin/python3"
}

# expect_row REGEX: doctor ends well, with this row on the fake.
expect_row() {
	row=$1
	run env PATH="$bin:$PATH" COLUMNS=200 "$destall" doctor
	expect_status 0
	expect_no_err
	expect_out "^  limited +Python +$bin/python3 $row"
	! grep -q "$escape" "$work/out" || fail "escape sequences came through"
}

# And so in JSON, which has the same rows: where odd bytes are in the answer.
expect_row_too() {
	run env PATH="$bin:$PATH" "$destall" doctor --json
	expect_status 0
	expect_out "python3 $row"
}

fake 'echo Python 3.11.2'
expect_row 'gave no sensible answer'
fake 'printf "destall-doctor\n\033[2J\n\n\n/p /\n"'
expect_row 'gave no sensible answer'
expect_row_too
fake 'printf "destall-doctor\n3.11.2\n\n\n/p\0 /\n"'
expect_row 'gave no sensible answer'
fake 'head -c 100000 /dev/urandom'
expect_row '(wrote more than|crashed)'
expect_row_too
fake 'exec cat /dev/zero'
expect_row 'wrote more than 4096 bytes'
fake 'exit 1'
expect_row 'ended with status 1'
fake 'kill -ABRT $$'
expect_row 'crashed: Aborted'
expect_row_too
fake 'kill -KILL $$'
expect_row 'crashed: Killed'
printf 'not a program' | put "$bin/python3"
expect_row 'ended with status 127'
put "$bin/python3" < /dev/null
expect_row 'ended with status 127'

# A hang, with a child that holds the output open; lib.sh looks for leftovers.
fake 'trap "" TERM INT HUP; sleep 1000 & sleep 1000'
expect_row 'gave no answer in time'

# One that answers, and leaves something running.
fake 'sleep 1000 &
printf "destall-doctor\n3.9.1\n2.0.1+cpu\n\n/odd\033[1m path /\n"'
run env PATH="$bin:$PATH" COLUMNS=200 "$destall" doctor
expect_status 0
expect_out "^  ok +Python +3.9.1, torch 2.0.1\+cpu, no destall: $bin/python3"
expect_out '^  ok +PyTorch +2.0.1\+cpu'
check_leftovers || fail "left running"

# Old ones.
fake 'printf "destall-doctor\n3.7.17\n1.9.0\n\n/p /\n"'
run env PATH="$bin:$PATH" COLUMNS=200 "$destall" doctor
expect_out "^  limited +Python +3.7.17, torch 1.9.0, no destall: "

# Which of them start destall by DESTALL=1 alone, and which one.
version=$("$destall" --version | sed 's/destall //')
fake "printf 'destall-doctor\\n3.9.1\\n\\n$version\\n/p /\\n'"
run env PATH="$bin:/bin" COLUMNS=200 "$destall" doctor
expect_out "^  ok +Python +3.9.1, no torch, destall $version: $bin/python3"
expect_out "^  ok +DESTALL=1 alone +starts destall in 1 of the interpreters"
fake "printf 'destall-doctor\\n3.9.1\\n\\n9.9\\n/p /\\n'"
run env PATH="$bin:/bin" COLUMNS=200 "$destall" doctor
expect_out "^  limited +DESTALL=1 alone +starts destall 9.9, and this is $version: $bin/python3"

# A relative entry of PATH is not followed.
mkdir rel
printf '#!/bin/sh\ntouch "%s/followed"\n' "$work" | put rel/python3
run env PATH="rel:.:" "$destall" doctor
expect_status 0
[ ! -e "$work/followed" ] || fail "a relative entry of PATH was followed"

# Ctrl-C and the like while an interpreter hangs: nothing stays.
for signal in INT TERM HUP; do
	rm -f "$work/started"
	fake "echo > '$work/started'; sleep 1000 & sleep 1000"
	# A shell lets what it starts in the background ignore SIGINT.
	env --default-signal="$signal" PATH="$bin:$PATH" "$destall" doctor \
	    > /dev/null 2> "$work/err" &
	pid=$!
	while [ ! -e "$work/started" ]; do
		kill -0 $pid || fail "it ended before it was hurt"
	done
	kill -$signal $pid
	status=0
	wait $pid || status=$?
	[ "$status" -gt 128 ] || fail "SIG$signal gave status $status"
	check_leftovers || fail "left running after SIG$signal"
done

# The same interpreter under several names is one row; a name with escapes in
# it is shown without them.
if [ -x /usr/bin/python3 ]; then
	mkdir links
	ln -s /usr/bin/python3 links/python3
	ln -s /usr/bin/python3 links/python
	odd="$PWD/$(printf 'odd\033[31m')"
	mkdir "$odd"
	printf '#!/bin/sh\nexit 3\n' | put "$odd/python"
	run env PATH="$odd:$PWD/links:/usr/bin:/bin:$PWD/links" COLUMNS=200 "$destall" doctor
	expect_status 0
	[ "$(grep -c 'Python  *3\.' "$work/out")" -eq 1 ] || fail "one Python, several rows"
	! grep -q "$escape" "$work/out" || fail "escape sequences came through"
	expect_out 'odd\\x1b\[31m/python ended with status 3'
	# Nothing is imported from the current directory.
	for module in os importlib re json torch sitecustomize; do
		echo "open('$work/imported', 'w')" > $module.py
	done
	run env PATH=/usr/bin:/bin "$destall" doctor
	expect_status 0
	[ ! -e "$work/imported" ] || fail "a module of the current directory was run"
	[ ! -e __pycache__ ] || fail "byte code was left behind"
fi
