# SPDX-License-Identifier: Apache-2.0
# destall gen: a wrong command line is one clear line, and makes nothing.
. "${top_srcdir:?run by make check}/tests/lib.sh"

refused() {
	text=$1
	shift
	expect_refused 2 "gen: $text" "$destall" gen "$@"
	[ ! -e set ] || fail "something was made by: $*"
}

refused 'DIR is missing' --count 3
refused '--count is missing' set
refused 'too many operands' --count 3 set other
refused "--count: '0' is out of range" --count 0 set
refused "--count: '-3' is not a whole number" --count -3 set
refused "--count: '1e30' is not" --count 1e30 set
refused "--count: '' is not" --count '' set
refused '--count: .*out of range|--count: .*not a whole' --count 99999999999999999999 set
refused "--count: '100000001' is out of range" --count 100000001 set
refused "--classes: '0' is out of range" --count 3 --classes 0 set
refused "--quality: '101' is out of range" --count 3 --quality 101 set
refused "--threads: '0' is out of range" --count 3 --threads 0 set
refused "--seed: '-1' is not" --count 3 --seed -1 set
for size in x 500x x375 0x5 0x0 500 9000x5 500x375x3 1e3x5 ''; do
	refused "--size: '$size' is not a size of images: write 500x375" --count 3 --size "$size" set
done
refused "--size: '9-3' goes from large to small: write 3-9" --count 3 --size 9-3 set
refused "--tar: '10GBB' is not a size" --count 3 --tar 10GBB set
refused "--tar: '-3%' is not a size" --count 3 --tar=-3% set
refused "--tar: '1e30' is not a size" --count 3 --tar 1e30 set
refused "--tar: '0' is too small for a shard" --count 3 --tar 0 set
refused "--tar: '4095' is too small" --count 3 --tar 4095 set
refused '--output is for --json' --count 3 -o file set
refused '--output is empty: name a file' --count 3 --json -o '' set
refused 'DIR is empty: name a folder' --count 3 ''
refused 'unknown option --sede: did you mean --seed' --count 3 --sede 1 set
