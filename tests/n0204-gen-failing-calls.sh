# SPDX-License-Identifier: Apache-2.0
# destall gen with each of its calls failing in turn: it ends with one line at
# most, nothing half is there, and going on gives the undisturbed set.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/gen.sh"
need_preload
export DS_FAIL_LIMIT="${DS_FAIL_LIMIT:-5}"

gen --count 6 files > /dev/null
gen --count 6 --tar 4K shards > /dev/null

before_failure() { rm -rf set; }
check_after_failure() {
	[ ! -d set ] || check_whole set "$1"
	gen --count 6 $options set > /dev/null 2>&1 || fail "$1: does not go on"
	check_clean set "$1"
	same_tree "$want" set "$1"
}

for want in files shards; do
	options="--threads 2"
	[ $want = files ] || options="--threads 2 --tar 4K"
	for failure in malloc:ENOMEM calloc:ENOMEM realloc:ENOMEM open:EMFILE openat:EMFILE \
	    write:ENOSPC write:short read:EIO renameat:EIO mkdir:EACCES mkdirat:ENOSPC \
	    fstat:EIO stat:EIO unlinkat:EIO fdopendir:ENOMEM poll:ENOMEM \
	    pthread_create:EAGAIN; do
		fail_calls "${failure%:*}" "${failure#*:}" gen --count 6 $options set
	done
done

# The same while it looks at what is there.
gen --count 3 begun > /dev/null
before_failure() { rm -rf set; cp -R begun set; }
want=files options="--threads 2" fail_counted=
for failure in fstatat:EIO openat:EMFILE fdopendir:ENOMEM calloc:ENOMEM; do
	fail_calls "${failure%:*}" "${failure#*:}" gen --count 6 $options set
done

# The work of looking goes with what is there, not with what is asked for.
rm -rf set "$work/calls"
cp -R files set
with_fail renameat:1+:EIO gen --count 1000000 --threads 1 set
expect_status 1
expect_one_line 'cannot write set/.*: Input/output error: 6 of 1000000 images are there, the same command goes on'
calls=$(awk '$2 == "fstatat" && $3 > n { n = $3 } END { print n + 0 }' "$work/calls")
[ "$calls" -ge 6 ] && [ "$calls" -lt 100 ] || fail "$calls calls of fstatat for 6 images"
