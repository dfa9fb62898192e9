# SPDX-License-Identifier: Apache-2.0
# The slow storage (tests/shim/slow.c): it counts exactly, all processes
# together stay within its rate, files can fail or hang, and a page cache can
# stand before it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
need_preload

reader=$(harness reader)
mkdir data elsewhere
i=0
while [ $i -lt 4 ]; do
	head -c 100000 /dev/zero > data/$i
	head -c 100000 /dev/zero > elsewhere/$i
	i=$((i + 1))
done

# slow SETTING... -- CMD...: as run, on the slow storage, counted from zero.
slow_shim=$(shim slow)
state=$work/state
slow() {
	rm -f "$state"
	slow_more "$@"
}
slow_more() {
	run env LD_PRELOAD="$slow_shim" DS_SLOW_ROOT="$PWD/data" \
	    DS_SLOW_STATE="$state" "$@"
	"$(harness slowstat)" "$state" > "$work/counts"
}
count() { sed -n "s/^$1 //p" "$work/counts"; }
expect_count() {
	[ "$(count "$1")" = "$2" ] || fail "$1 is $(count "$1"), not $2"
}

# Every way of reading; 100,000 bytes are 25 blocks of 4,096.
for how in read pread readv preadv sendfile range mmap fopen; do
	calls=50
	case $how in
	mmap | fopen) calls=2 ;;
	esac
	slow "$reader" $how 4096 data/0 data/1 elsewhere/0 elsewhere/1
	expect_status 0
	expect_out '^400000$'
	expect_count opens 2
	expect_count reads $calls
	expect_count bytes 200000
done

# Of a name that leads there, and through a descriptor from elsewhere.
ln -s "$PWD/data/2" elsewhere/link
slow "$reader" read 65536 elsewhere/link
expect_count bytes 100000
slow sh -c '"$0" read 65536 /dev/stdin < data/3' "$reader"
expect_count bytes 100000

# Other programs see it too.
if [ -n "${PYTHON-}" ]; then
	slow "$PYTHON" -c 'print(len(open("data/0", "rb").read()))'
	expect_out '^100000$'
	expect_count opens 1
	expect_count bytes 100000
fi

# Two processes at once on one storage: the bytes of both take their time
# together, one transfer after the other, and no read came back early.  The
# second round goes on where the first ended.
slow DS_SLOW_RATE=8MB "$reader" read 10000 data/0
expect_count busy_ns 12500000
slow_more DS_SLOW_RATE=8MB sh -c '
	"$0" read 10000 data/0 data/1 & "$0" read 10000 data/2 data/3; wait $!
	' "$reader"
expect_status 0
expect_count bytes 500000
expect_count reads 50
expect_count busy_ns 62500000
expect_count early 0
[ $(($(count end_ns) - $(count start_ns))) -eq \
    $(($(count busy_ns) + $(count idle_ns))) ] || fail "transfers overlapped"

# Latency is each reader's own: no queue, no time of the storage.
slow DS_SLOW_LATENCY=1ms DS_SLOW_OPEN_LATENCY=2ms "$reader" read 50000 data/0
expect_status 0
expect_count reads 2
expect_count busy_ns 0
expect_count early 0

# Files that fail, by name or path, each way; the others flow.
mkdir data/deep
head -c 1000 /dev/zero > data/deep/bad.jpg
head -c 1000 /dev/zero > data/deep/good.jpg
for glob in 'bad*' 'deep/bad.*' '*/bad.jpg'; do
	for how in read pread readv preadv sendfile range mmap fopen; do
		slow DS_SLOW_FAIL="EIO:$glob" "$reader" $how 4096 \
		    data/deep/good.jpg data/deep/bad.jpg
		expect_status 1
		expect_out '^EIO$'
		expect_count failed 1
		expect_count bytes 1000
	done
done

# A file that hangs; the other one flows.  It hangs until it is killed.
rm -f "$state"
mkfifo pipe
LD_PRELOAD="$slow_shim" DS_SLOW_ROOT="$PWD/data" DS_SLOW_STATE="$state" \
    DS_SLOW_HANG=bad.jpg "$reader" read 4096 data/deep/good.jpg \
    data/deep/bad.jpg > pipe &
pid=$!
exec 3< pipe
hung=0
while [ "$hung" = 0 ]; do
	[ -d "/proc/$pid" ] || fail "the reader of a file that hangs has ended"
	"$(harness slowstat)" "$state" > "$work/counts" 2> /dev/null || continue
	hung=$(count hung)
done
expect_count bytes 1000
kill -KILL $pid
wait $pid || status=$?
expect_status 137
[ -z "$(cat <&3)" ] || fail "the reader of a file that hangs came back"

# A setting that cannot be read is a broken test.
for setting in DS_SLOW_RATE=fast DS_SLOW_RATE=0 DS_SLOW_LATENCY=5 \
    DS_SLOW_FAIL=bad.jpg DS_SLOW_FAIL=ENONSENSE:x DS_SLOW_ROOT=none \
    DS_SLOW_ROOT=/ DS_SLOW_STATE=/none/state DS_SLOW_CACHED=slow; do
	run env LD_PRELOAD="$slow_shim" DS_SLOW_ROOT="$PWD/data" $setting \
	    "$reader" read 4096 data/0
	expect_status 99
done

# Of a file system in memory no file is ever out of it.
memory=$(mktemp -d -p /dev/shm 2> /dev/null) || memory=
if [ -n "$memory" ] && [ "$(stat -f -c %T "$memory")" = tmpfs ]; then
	run env LD_PRELOAD="$slow_shim" DS_SLOW_ROOT="$memory" \
	    DS_SLOW_CACHED=fast "$reader" read 4096 data/0
	expect_status 99
fi
[ -z "$memory" ] || rmdir "$memory"

#--- a page cache before it ---------------------------------------------------

case $(stat -f -c %T data) in
tmpfs | ramfs)
	echo "not shown: a page cache before the storage: $PWD is in memory"
	exit 0
	;;
esac

evict() {
	for file; do
		dd if="$file" iflag=nocache count=0 conv=fdatasync 2> /dev/null ||
		    fail "$file cannot be evicted"
	done
}
cached() { slow DS_SLOW_CACHED=fast "$@"; }

# What a call misses comes from storage at once, with the 128 KiB behind it; the
# second time nothing does.  A way that takes all asks once.
rm -f data/[0-9]
head -c 300000 /dev/zero > data/0
head -c 100000 /dev/zero > data/1
sync data/0 data/1
for how in read pread readv preadv sendfile range mmap fopen; do
	misses=4
	case $how in
	mmap | fopen) misses=2 ;;
	esac
	evict data/0 data/1
	cached "$reader" $how 4096 data/0 data/1
	expect_status 0
	expect_out '^400000$'
	expect_count opens 2
	expect_count reads $misses
	expect_count bytes 400000
	cached "$reader" $how 4096 data/0 data/1
	expect_out '^400000$'
	expect_count opens 2
	expect_count reads 0
	expect_count bytes 0
	[ "$(count hits)" -gt 0 ] || fail "$how: no call has hit"
done

# Part of a file: what is there is not charged.
evict data/0
cached "$reader" read 4096 data/1
expect_count reads 0
env LD_PRELOAD="$slow_shim" DS_SLOW_ROOT="$PWD/data" DS_SLOW_CACHED=fast \
    dd if=data/0 of=sink bs=131072 count=1 2> /dev/null
cached "$reader" mmap 4096 data/0
expect_count reads 1
expect_count bytes $((300000 - 131072))

# Both kinds of storage.  Two processes stand in one queue for what they miss,
# and only for that.
evict data/0 data/1
cached DS_SLOW_RATE=8MB sh -c '
	"$0" read 50000 data/0 & "$0" read 50000 data/1; wait $!' "$reader"
expect_status 0
expect_count busy_ns 50000000
expect_count early 0
[ $(($(count end_ns) - $(count start_ns))) -eq \
    $(($(count busy_ns) + $(count idle_ns))) ] || fail "transfers overlapped"
cached DS_SLOW_RATE=8MB "$reader" read 50000 data/0 data/1
expect_count busy_ns 0
evict data/1
cached DS_SLOW_LATENCY=1ms "$reader" read 50000 data/0 data/1
expect_count reads 1
expect_count busy_ns 0
expect_count early 0
