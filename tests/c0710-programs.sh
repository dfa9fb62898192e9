# SPDX-License-Identifier: Apache-2.0
# c0710: programs that everybody has read, copy, move and archive a data set
# through the cache with the same results as without it: output, errors, exit
# status, and every file that they make.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/compat.sh"
need_hub
need bash

# A device other than the one we are on, for mv.
other=$(mktemp -d /dev/shm/destall-test.XXXXXX) || skip "no /dev/shm to write to"
trap 'kept=$?; rm -rf "$other"; (exit $kept); finish' EXIT
export other

# 40 files of 1 byte to 60 kB, with all kinds of modes, times and names; two
# have a second name, one is empty, one has the mode by which substitutes are
# known.
mkset "$work/origin" 36 1 60000
(
	cd "$work/origin" || exit
	first=$(find . -type f | sort | head -n 1)
	second=$(find . -type f | sort | tail -n 1)
	ln "$first" hard
	ln -s "$second" soft
	: > empty
	printf 'a line\nanother\n\nlast without end' > 'a b	c'
	seq 1 3000 > lines
	seq 3000 -1 1 > senil
	printf 'x' > -dash
	cp lines sticky
	chmod 1640 sticky
	chmod 600 lines
	chmod 755 senil
	chmod 444 'a b	c'
	n=0
	find . -type f | sort | while read -r f; do
		n=$((n + 1))
		touch -d "2021-02-03 04:05:06.0$((n + 100))5" "$f"
	done
)
# Where the file system has them: an attribute, and an access list.
"$PYTHON" - "$work/origin" << 'END' || echo "no extended attributes here"
import os, struct, sys
os.setxattr(sys.argv[1] + "/lines", "user.of", b"a test")
acl = struct.pack("<I", 2)
for tag, perm, who in ((1, 6, -1), (2, 4, 1), (4, 4, -1), (16, 4, -1), (32, 0, -1)):
    acl += struct.pack("<HHi", tag, perm, who)
os.setxattr(sys.argv[1] + "/senil", "system.posix_acl_access", acl)
END

cat > "$work/steps" << 'END'
. ../steps.sh
files=42
names() { find set -type f | sort; }
mkdir result/kept

# Reading.
reads $files find-exec find set -type f -exec md5sum {} +
reads 5 find-each find set -name '00000[0-4]*' -exec md5sum {} \;
reads $files xargs sh -c 'find set -type f -print0 | sort -z | xargs -0 md5sum'
reads $files xargs-4 sh -c 'find set -type f -print0 | xargs -0 -n 4 -P 4 md5sum | sort'
reads $files sha sha256sum $(find set -type f ! -name '*	*') 'set/a b	c'
reads $files cat sh -c 'find set -type f -exec cat {} +'
reads 1 cat-in sh -c 'cat < set/lines'
reads 2 cat-both sh -c 'cat - set/senil < set/lines'
reads 1 cat-dash sh -c 'cd set && cat ./-dash -- -dash'
reads 1 soft cat set/soft
reads 1 up sh -c 'cd set/*0 && cat ../lines'
reads 1 head head -c 1000 set/senil
reads 2 heads head -n 3 set/lines set/senil
reads 2 tail tail -n 3 set/lines set/senil
reads 1 tail-c tail -c 100 set/lines
reads 1 dd dd if=set/lines bs=100 skip=3 count=7 status=none
reads 1 dd-in sh -c 'dd bs=1k skip=1 status=none < set/lines'
reads 1 tac tac set/lines
reads 1 rev od -A d -t x1 -j 500 -N 64 set/senil
reads 2 cmp-other cmp set/lines set/senil
reads 1 cmp-same cmp set/lines set/sticky
reads 2 diff diff set/lines set/senil
reads 2 comm comm -12 set/lines set/sticky
reads 2 paste paste set/lines set/senil
reads $files grep grep -rc 1 set
reads 1 grep-s grep -n 299 set/senil
reads $files wc sh -c 'find set -type f | sort | tr "\n" "\0" | wc -c --files0-from=-'
reads 2 sort sort -n set/senil set/lines
reads 1 uniq uniq -c set/lines
reads 1 sed sed -n '5p;10q' set/lines
reads 1 awk awk '{ n += $1 } END { print n, NR }' set/lines
reads 1 split split -b 4000 set/lines result/part.
reads 1 gzip sh -c 'gzip -nc < set/lines'
reads 1 gzip-name gzip -nkc set/lines

# Errors are those of a program without us.
step none cat set/none set/empty
step folder cat set
step to-full sh -c 'cat set/lines > /dev/full'
step closed sh -c 'cat set/lines >&-'
reads 1 pipe sh -c 'cat set/senil | head -n 1'

# What a descriptor tells, against what the name tells.
same_stat() {
	stat -Lc "$1" /dev/fd/7 7< "$2" > result/by-fd
	stat -c "$1" "$2" > result/by-name
	cmp result/by-fd result/by-name
	rm result/by-fd result/by-name
}
fields='%a %A %b %B %d %f %F %g %h %i %o %s %t %T %u %W %X %Y %y %Z %z'
for f in set/lines set/hard set/sticky set/senil; do
	reads 1 "stat-${f#set/}" same_stat "$fields" "$f"
done

# The shell's own reading.
reads 1 redirect bash -c 'while read -r l; do n=$((n + l)); done < set/lines; echo $n'
reads 1 mapfile bash -c 'mapfile -t a < set/lines; echo ${#a[@]} ${a[77]}'
reads 1 dollar bash -c 'echo "$(< set/lines)" | md5sum'
reads 2 processes bash -c 'diff <(cat set/lines) <(sort -n set/senil)'
reads 1 kept-open bash -c 'exec 5< set/lines; read -r a <&5; read -r -u 5 b;
    head -c 1 <&5; echo $a $b; exec 5<&-; read -r c <&5'
reads 1 line-by-line bash -c '{ read -r a; read -r b; cat; } < set/lines | md5sum'
reads 1 source bash -c '. ./set/-dash' 2> /dev/null
reads 1 here sh -c 'cat << E
$(cat set/lines)
E'

# Copies.
reads 1 cp cp set/lines result/cp
reads 1 cp-p cp -p set/lines result/kept/cp-p
reads 1 cp-acl cp -p set/senil result/kept/cp-acl
reads $((files - 1)) cp-a cp -a set result/kept/cp-a
reads $files cp-r cp -r set result/cp-r
reads 1 cp-sparse cp --sparse=always set/senil result/sparse
reads 1 cp-fd sh -c 'cp /dev/stdin result/cp-fd < set/lines'
reads 1 install install -m 640 set/lines result/install
reads 1 install-p install -p -m 600 set/lines result/kept/install-p
reads 1 install-c install -C -m 600 set/lines result/install-C
reads 1 install-c2 install -C -m 600 set/lines result/install-C
reads 1 over sh -c 'cp -p set/lines result/kept/over && cp -p set/senil result/kept/over'
reads 1 copy-within cp --reflink=auto set/lines set/new
reads 1 back sh -c 'cat set/lines >> set/new && md5sum set/new'
touch -d '2022-02-02 02:02:02.2' set/new set
reads $files tar tar --sort=name --owner=0 --group=0 -cf - set
reads $files tar-plain sh -c 'tar -cf - set | tar -tvf -'
reads $files tar-x sh -c 'tar --sort=name --acls --xattrs -cf - set | tar -xf - -C result/kept'
if command -v rsync > /dev/null; then
	reads $((files - 1)) rsync rsync -a set/ result/kept/rsync
	reads $((files - 1)) rsync-again rsync -aH --checksum --itemize-changes set/ result/kept/rsync
	reads $((files - 1)) rsync-h rsync -aHA set result/kept/rsync-h
fi
attributes() {
	"$PYTHON" -c '
import os, sys
for f in sys.argv[1:]:
    print(f, [(n, os.getxattr(f, n)) for n in sorted(os.listxattr(f))])' "$@"
}
step attributes attributes result/kept/cp-p result/kept/cp-acl result/kept/cp-a/lines \
    result/kept/cp-a/senil

# Moves, which end with the removal of what was read.
reads 1 mv mv set/lines "$other/lines"
reads 1 mv-again mv "set/a b	c" set/senil "$other"
step moved sh -c 'cd "$other" && md5sum * && stat -c "%n %A %a %h %U %G %s %y" *'
reads $((files - 5)) mv-all mv set "$other/set"
mkdir set
step all-moved sh -c 'cd "$other/set" && find . -type f | sort | tr "\n" "\0" |
    xargs -0 stat -c "%n %A %a %h %U %G %s %y"'
step gone ls -A set
rm -rf "$other"/*
END

compare_all
