# SPDX-License-Identifier: Apache-2.0
# The slow storage (tests/shim/slow.c): it counts exactly, all processes
# together stay within its rate, and files can fail or hang.
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
    DS_SLOW_ROOT=/ DS_SLOW_STATE=/none/state; do
	run env LD_PRELOAD="$slow_shim" DS_SLOW_ROOT="$PWD/data" $setting \
	    "$reader" read 4096 data/0
	expect_status 99
done
