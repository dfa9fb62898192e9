# SPDX-License-Identifier: Apache-2.0
# c0502: destall cache warm: all of a data set, a share of it, what fits, what
# cannot be read, and what comes between.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cachecmd.sh"

make_data data 200
: > data/empty

# It starts the hub, reads everything once, and nothing twice.
run "$destall" cache warm data
expect_status 0
expect_no_err
expect_out '^data: all 201 items are cached, 195 KiB: 200 read in .*s$'
run "$destall" cache warm --threads 7 "$PWD/data/../data/"
expect_status 0
expect_no_err
expect_out ': all 201 items are cached, 195 KiB: nothing had to be read$'
check_json '
assert (s["cached_items"], s["storage_reads"], s["hits"]) == (200, 200, 0), s
'

# The same as shards.
tar -cf shard.tar -C data a b
run "$destall" cache warm tar:shard.tar
expect_status 0
expect_out '^tar:shard\.tar: all 200 items are cached, '
check_json '
assert d["datasets"][1]["root"] == "tar:" + s["root"][:-4] + "shard.tar", d
'

# A share, exactly; what is left of it is not read.
make_data part 200
run "$destall" cache warm --cache 35% --threads 1 part
expect_status 0
expect_out '^part: 70 of 200 items are cached, 68\.4 KiB of 195 KiB: 71 read in '
expect_one_line 'cache warm: no more fits into its share, 35\.0 %$'
# The first job decides.
hold part 50%
run "$destall" cache warm --cache 90% part
expect_status 0
expect_out '^part: 100 of 200 items'
expect_one_line 'cache warm: no more fits into its share, 50\.0 %$'
let_go

# What is in the folder and no item.
make_data mixed 4
mkfifo mixed/fifo
ln -s / mixed/out
run "$destall" cache warm mixed
expect_status 0
expect_out '^mixed: all 4 items are cached'
expect_err '^destall: cache warm: left out: 1 that are no files$'
expect_err '^destall: cache warm: left out: 1 links to folders, to nowhere or out of it$'
stop_hub

# A ceiling that is less than the data set: 4 KiB for each item.
start_hub --cache 1M
make_data large 400
run "$destall" cache warm large
expect_status 0
expect_out '^large: [0-9]+ of 400 items are cached, '
expect_one_line 'cache warm: the cache is full: '
stop_hub

# Wrong words.
expect_refused 2 "cache: --cache: '8G' is a size" "$destall" cache warm --cache 8G data
expect_refused 2 'cache: --cache' "$destall" cache warm --cache 0% data
expect_refused 2 'cache: --threads' "$destall" cache warm --threads 0 data
expect_refused 2 'cache warm: which data set\?' "$destall" cache warm
expect_refused 2 'cache warm: the data set is empty' "$destall" cache warm ''
expect_refused 1 'data set none: No such file or directory' "$destall" cache warm none
expect_refused 1 'data set .*/data/empty: not a folder' "$destall" cache warm data/empty
stop_hub

configured WITH_CRASH_POINTS || exit 0

# An item that cannot be read costs that item.
start_hub
run env DS_DIE_AT=cache.leased:3:EIO "$destall" cache warm data
expect_status 1
expect_out '^data: 199 of 201 items are cached'
expect_one_line 'cache warm: 1 item could not be read, the first: .*data: cannot be read'
check_json 'assert (s["failed_items"], s["cached_items"]) == (1, 199), s'
run "$destall" cache stat
expect_out '^ +1 item could not be read$'
# The next job tries it again.
run "$destall" cache warm data
expect_status 0
expect_out ': 1 read in '
stop_hub

# begin_warm: stopped in the middle; its number in $warm.
begin_warm() {
	start_hub
	DS_DIE_AT=cache.leased:20:stop "$destall" cache warm --threads 1 data \
	    > "$work/out" 2> "$work/err" &
	warm=$!
	wait_stopped $warm
}
end_warm() {
	kill -CONT $warm
	status=0
	wait $warm || status=$?
}

# A signal ends it, and what was done stays.
begin_warm
kill -TERM $warm
end_warm
expect_status 143
expect_out '^data: [0-9]+ of 201 items are cached'
expect_one_line 'cache warm: stopped: the same command goes on from there$'
run "$destall" cache warm data
expect_status 0
expect_out 'all 201 items are cached'
stop_hub

# So does a hub that leaves, but then nothing is cached.
begin_warm
stop_hub
end_warm
expect_status 1
expect_no_out
expect_one_line 'cache warm: the hub went away'
