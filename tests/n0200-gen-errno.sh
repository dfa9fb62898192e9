# SPDX-License-Identifier: Apache-2.0
# destall gen: each step fails in each likely way: one line that names the
# file, the reason and how to go on; what is there is whole; going on gives the
# set of a run that nothing happened to.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/gen.sh"
need_crash_points

gen --count 12 files > /dev/null
gen --count 12 --tar 4K shards > /dev/null

# hurt POINT:NTH ERRNO TEXT KIND OPTION...
hurt() {
	about="$2 at $1, $4" text=$3 want=$4 plan=$1:$2
	shift 4
	rm -rf set
	run env "DS_DIE_AT=$plan" "$destall" gen --size 40x30 --classes 3 --count 12 "$@" set
	expect_status 1
	expect_one_line "cannot (write|open) set/[^ :]*: $text"
	expect_no_out
	check_clean set "$about"
	if [ "$want" = files ]; then
		there=$(count_images set)
	else
		there=$(find set -name '*.tar' -exec tar -tf {} \; | wc -l)
	fi
	if [ "$there" -gt 0 ]; then
		expect_err ": $there of 12 images are there, the same command goes on from them$"
	elif [ -z "${plan##gen.recorded*}" ]; then
		expect_err ": $text$"
	else
		expect_err ": $text: no image is there yet, run the same command again$"
	fi
	gen --count 12 "$@" set > /dev/null
	same_tree "$want" set "$about"
}

for nth in 1 3 7; do
	for point in gen.opened gen.written; do
		hurt $point:$nth ENOSPC 'No space left on device' files
		hurt $point:$nth EIO 'Input/output error' files --threads 1
		hurt $point:$nth EDQUOT 'Disk quota exceeded' files --threads 3
	done
	hurt gen.written:$nth ENOSPC 'No space left on device' shards --tar 4K
	hurt gen.written:$nth EIO 'Input/output error' shards --tar 4K --threads 3
	hurt gen.shard-written:$nth ENOSPC 'No space left on device' shards --tar 4K
done
hurt gen.opened:2 EMFILE 'Too many open files' shards --tar 4K
hurt gen.recorded:1 ENOSPC 'No space left on device' files
hurt gen.recorded:1 EROFS 'Read-only file system' shards --tar 4K

# What is there cannot be looked at: no count is made up, and nothing is made.
for kind in files shards; do
	options=
	[ $kind = files ] || options="--tar 4K"
	rm -rf set
	cp -R $kind set
	expect_refused 1 'cannot (list|read) set/(class000|shard-00000[0-9].tar): Input/output error$' \
	    env DS_DIE_AT=gen.scanned:3:EIO "$destall" gen --size 40x30 --classes 3 --count 20 $options set
	same_tree $kind set "a scan that failed"
done

# Where there is nothing to fail: before the first step, and after the last one
# of an image, when it is there.
for point in gen.unclaimed gen.renamed gen.shard-renamed; do
	rm -rf set
	run env DS_DIE_AT=$point:2:EIO "$destall" gen --size 40x30 --classes 3 --count 12 --tar 4K set
	expect_status 0
done

# Every point that exists is named above.
for point in $(crash_points gen.); do
	grep -q "$point" "$top_srcdir/tests/$test_name" || fail "$point is not tested"
done
