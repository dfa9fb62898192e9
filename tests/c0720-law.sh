# SPDX-License-Identifier: Apache-2.0
# c0720: the law of MinIO, exactly, through the preload object.  Four programs
# that know nothing of it, shuffled anew each epoch, at shares of 35 and 65 %:
# every item that was admitted is read from storage once, ever; every other one
# once per epoch by each process that reads it.  So with A admitted of N, E
# epochs read
#
#     A + E (N - A)           four that split each epoch
#     A + 4 E (N - A)         four that each read all of it
#
# by our own statistics.  By the block layer, in whole pages, each epoch after
# the first reads N - A files, when another program has the kernel forget them
# all before it; of four that read the same, the kernel spares three.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/preloaded.sh"
need_object
need_python

items=300 epochs=3
size=7000 pages=8192
metadata=131072		# what the file system may read besides, in an epoch
mkset set $items $size
sync

cat > forget.py <<'END'
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        fd = os.open(os.path.join(folder, name), os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)
END

# What its children read from devices, those that they waited for included.
cat > blocks.py <<'END'
import subprocess, sys
def read_bytes():
    with open("/proc/self/io") as f:
        return int([l for l in f if l.startswith("read_bytes")][0].split()[1])
before = read_bytes()
readers = [subprocess.Popen(["sh", "-c", c]) for c in sys.argv[1:]]
worst = max([r.wait() for r in readers], key=abs)
print("blocks", read_bytes() - before)
sys.exit(worst != 0)
END

# one_epoch: all four; each sees every byte right, and says nothing.
one_epoch() {
	"$PYTHON" forget.py set
	set --
	for i in 0 1 2 3; do
		case $how in
		split) options="part=$i/4 seed=$((epoch + 1))" ;;
		*) options="seed=$((epoch * 4 + i + 1))" ;;
		esac
		set -- "$@" "exec '$preload' '$the_plain' how=$way $options set > r$i.txt 2> r$i.err"
	done
	"$PYTHON" blocks.py "$@" > blocks.txt || fail "$what: $(cat r?.txt r?.err)"
	for i in 0 1 2 3; do
		[ "$(word r$i.txt all items)" = "$((gets / 4))" ] &&
		    [ "$(word r$i.txt all wrong)" = 0 ] || fail "$what: $(cat r$i.txt)"
		expect_lines r$i.err 0
	done
}

# expect_reads: of this epoch, and what they are of all opens.
expect_reads() {
	set_of set cached_items storage_reads hits misses storage_bytes > counts
	{ read -r admitted; read -r reads; read -r hits; read -r misses
	  read -r bytes; } < counts
	[ "$admitted" -eq $((items * share / 100)) ] || fail "$what: $admitted of $items items are admitted"
	each=$((items - admitted))
	[ "$how" = split ] || each=$((4 * each))
	want=$((admitted + (epoch + 1) * each))
	[ "$reads" -eq $want ] || fail "$what: $reads reads of storage in all, not $want"
	[ "$misses" -eq $want ] || fail "$what: $misses misses, but $reads reads"
	[ "$bytes" -eq $((want * size)) ] || fail "$what: $bytes bytes of storage for $reads reads"
	[ $((reads + hits)) -eq $(((epoch + 1) * gets)) ] ||
	    fail "$what: $reads reads and $hits hits of $(((epoch + 1) * gets)) opens"
}

# expect_blocks: 0 where the file system has no block device.
expect_blocks() {
	block=$(word blocks.txt blocks blocks)
	[ "$block" -gt 0 ] || return 0
	least=$(((items - admitted) * pages)) most=$least
	[ $epoch -gt 0 ] || least=$((items * pages)) most=$((items * pages))
	# The copy that the kernel has goes as an item is brought in: in the
	# first epoch, who reads the file itself meanwhile reads it again.
	[ "$how" = split ] || [ $epoch -gt 0 ] || most=$((4 * items * pages))
	[ "$block" -ge $least ] && [ "$block" -le $((most + metadata)) ] ||
	    fail "$what: the block layer read $block bytes, not $least"
	echo "$what: $least bytes of files, $((block - least)) besides"
}

# As long as `destall run` is there, the data set is in use.
law() {
	how=$1 share=$2 gets=$items
	[ "$how" = split ] || gets=$((4 * items))
	rm -f begun over
	start_hub
	"$destall" run --cache "$share%" --data set -- sh -c ': > begun
	    until [ -e over ]; do sleep 0.05; done' 2> run.err &
	runner=$!
	wait_file begun
	epoch=0
	for way in read stdio mmap; do
		what="$how, $share %, epoch $epoch by $way"
		one_epoch
		expect_reads
		expect_blocks
		epoch=$((epoch + 1))
	done
	[ $epoch -eq $epochs ] || fail "$epoch epochs"
	: > over
	wait $runner || fail "$(cat run.err)"
	stop_hub
}

for share in 35 65; do
	law split $share
	law each $share
done
event 4 "runs of the law of MinIO through the object, exact"
