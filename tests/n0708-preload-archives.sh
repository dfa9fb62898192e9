# SPDX-License-Identifier: Apache-2.0
# Reproducible archives: two with the same names, sizes and times, and other
# bytes.  The second is extracted over the first, in the same inodes or new
# ones: its bytes are read, in the job that does it, and after a new listing.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/preloaded.sh"
need_object
need_python

for n in 1 2; do
	mkdir -p v$n/set
	for i in 1 2 3 4 5 6 7 8; do
		head -c 3000 /dev/urandom > v$n/set/f$i
	done
	cat v$n/set/f* > bytes$n
	(cd v$n && tar -cf ../v$n.tar --mtime='2020-01-01 00:00:00' set/f*)
done
cat > again.sh <<'END'
set -e
cat set/f* > before
tar -xf v2.tar $1
cat set/f* > after
cat set/f* > after2
END

# Files that are too new are not cached yet.
is_warm() { "$preload" cat set/f* > /dev/null && is_cached set 8; }

for how in --overwrite --unlink-first; do
	rm -rf set
	mkdir set
	tar -xf v1.tar
	start_hub
	await is_warm
	run "$preload" sh again.sh $how
	expect_status 0
	cmp bytes1 before || fail "$how: not the first's bytes"
	cmp bytes2 after && cmp bytes2 after2 || fail "$how: not the second's, in the job"
	run "$destall" run --data set -- cat set/f1 set/f2 set/f3 set/f4 set/f5 \
	    set/f6 set/f7 set/f8
	expect_status 0
	cmp bytes2 "$work/out" || fail "$how: not the second's, after a new listing"
	stop_hub
done
event 16 "files replaced by others of the same name, size and time"
