# SPDX-License-Identifier: Apache-2.0
# A native loader whose job is profiled: every kind of block delivers what it says,
# no epoch is longer than it is, and what happens is told.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/emulate.sh"
. "$top_srcdir/tests/profile.sh"

gen --count 400 set
job() { conduct "$1" "$destall" emulate --batch 8 --set size=32 --data set --step-ms 1 $2; }

#--- one of each kind -----------------------------------------------------------

job "set:4 actual:6 replay:6 busy:6 cached:4 cold:4 rawcold:4 rawcached:4 alone:4:1 alone:0 end" ""
expect_status 0
expect_no_err
expect_no_out
expect_left 0
expect_records 1 HELLO '$3 == 2 && $6 == 0 && $7 == 1 && / emulate /'
expect_records 1 LOADER '$3 == 8 && $5 == 2 && $6 == 50 && $7 == 400 && $8 == 8 && /\/set$/'
[ "$(sed -n '1s/ .*//p;2s/ .*//p' "$work/records" | tr '\n' ' ')" = "HELLO LOADER " ] ||
    fail "HELLO and LOADER are not first"
expect_records 5 STEP '$3 == "-"'
expect_records 1 TRAINS
expect_records 0 NOTE '!/replayed batches have/'

# Blocks, in order, with what was delivered.
records BLOCK_END | awk '{ print $3, $4, $6, $7 }' > got
cat > want <<'END'
0 1 4 32
1 2 6 48
2 3 6 48
3 4 6 48
4 5 4 32
5 6 4 32
6 7 0 32
7 8 0 32
8 9 4 32
9 9 4 96
END
diff want got || fail "other blocks"
expect_records 10 BLOCK
for block in 1:6 2:6 3:6 4:4 5:4 6:0 8:0; do
	expect_records ${block#*:} STEP "\$3 == ${block%:*} && \$7 == 8"
done

# Times go on, and a step of the job is between a batch and the next.
records STEP | awk '
	$6 < $5 || $5 < given { exit 1 }
	block == $3 && $3 != "-" && $5 - given < 1000000 { exit 1 }
	{ given = $6; block = $3 }' || fail "times of steps"
records STEP | awk '{ n = $3 == block ? n + 1 : 0; block = $3 } $4 != n { exit 1 }' || fail "numbers of steps"

# The set: its files in memory, or out of it, where the file system can do that.
expect_records 1 SET '$3 == 4 && $4 == 32 && $5 == 32 && $6 > 0 && $7 == 0'
set -- $(records SET)
bytes=$6
# The rest of the data set, as it was found.
expect_records 1 BESIDE '$3 < 368 && $3 >= 300 && $4 >= $3 && $4 == $5 && $6 == 0'
expect_records 0 PAGES '$7 != 0 || $5 < 32'
for block in 3 4 7 8 9; do
	expect_records 2 PAGES "\$3 == $block && \$5 == \$6"
done
# Of fresh batches, as they were found; of replayed ones nothing is read.
expect_records 1 PAGES '$3 == 1 && $4 == 0 && $5 >= 48 && $5 == $6'
expect_records 0 PAGES '$3 == 2'
case $(stat -f -c %T set) in
tmpfs | ramfs) ;;
*) expect_records 2 PAGES '($3 == 5 || $3 == 6) && $4 == 0 && $6 == 0' ;;
esac
expect_records 2 READ "\$6 == 32 && \$7 == $bytes && \$8 == 32 && \$9 >= 5 && \$5 >= \$4"
# The first batch of the loader alone fills the pipeline, and is not in it.
expect_records 1 ALONE '$3 == 8 && $6 == 24 && $7 == 1 && $8 > 0 && $9 == 3'
expect_records 1 ALONE '$3 == 9 && $6 == 24 && $7 >= 1'
# Behind it six that are there already, by the job's own number of makers only.
expect_records 6 READY '$3 == 9 && $5 >= $4 && $6 == 1'
expect_records 6 READY
# Makers worked where they should, and nowhere else.
for block in 0 1 3 4 5 8 9; do
	expect_records 1 MADE "\$3 == $block && \$4 == \"-\" && \$7 > 0 && \$8 > 0"
done
expect_records 0 MADE '$3 == 2 || $3 == 6 || $3 == 7'

# A job that keeps what it gets, and checks it at its end: nobody has written to it.
conduct "continue set:2 replay:20 cached:4 replay:5 end" "$destall" emulate --batch 8 --set size=32 \
    --data set --keep --epochs 1
expect_status 0
expect_out '^epoch 0: 400 samples '
# One that writes to what it gets.
conduct "set:2 replay:20 replay:20 end" "$destall" emulate --batch 8 --set size=32 --data set --touch write
expect_status 0
expect_left 0

#--- epochs ---------------------------------------------------------------------

# 5 of 50 are gone, 40 fit, 6 more do not.
job "set:4 actual:40 alone:2 replay:6 end" ""
expect_status 0
expect_left 1
expect_records 3 BLOCK_END
# To the last one.
job "set:4 actual:40 replay:5 rawcached:0 end" ""
expect_left 0
expect_records 50 STEP
expect_records 0 EPOCH
# An epoch too short for anything.
conduct "set:1 actual:1 end" "$destall" emulate --batch 200 --set size=32 --data set
expect_left 1
expect_records 2 STEP
expect_records 0 EPOCH
# It may be passed.
job "pass set:2 actual:60 replay:50 end" "--epochs 4"
expect_left 0
expect_records 2 EPOCH '$4 == 50'
expect_records 1 BLOCK_END '$4 == 2 && $6 == 60 && $7 == 480'
# There is no more than the job would have.
job "pass actual:500 end" "--epochs 2"
expect_status 0
expect_records 2 EPOCH '$4 == 50'
expect_records 0 LEFT
expect_out '^all: 800 samples '
# It goes on, and each epoch has its batches.
job "continue set:2 replay:5 cached:2 end" "--epochs 3"
expect_status 0
expect_records 0 LEFT
for epoch in 0 1 2; do
	expect_out "^epoch $epoch: 400 samples "
done

#--- only watched ---------------------------------------------------------------

emulate --data set --epochs 2 --ledger plain.ledger
conduct live "$destall" emulate --batch 8 --set size=32 --data set --epochs 2 --ledger live.ledger
expect_status 0
expect_out '^all: 800 samples '
cmp -s plain.ledger live.ledger || fail "a run that is watched has other samples"
expect_records 0 STEP
expect_records 1 TRAINS
expect_records 0 BLOCK
[ "$(records LIVE | awk '{ n += $6 } END { print n }')" -eq 800 ] || fail "LIVE has other samples"
[ "$(records LIVE_MADE | awk '{ n += $6 } END { print n }')" -eq 800 ] ||
    fail "LIVE_MADE has other samples"

#--- what cannot be arranged is said ----------------------------------------------

gen --count 50 --tar 64K shards
conduct "set:2 cold:2 rawcold:2 end" "$destall" emulate --batch 8 --set size=32 --set labels=none --data tar:shards
expect_status 0
expect_left 0
expect_records 1 NOTE '/parts of shards/'
expect_records 1 SET '$5 == 0 && $7 == 16'
expect_records 0 BESIDE
expect_records 6 PAGES '$6 == 0 && $5 == $7'
expect_records 1 READ '$6 == 16'
