# SPDX-License-Identifier: Apache-2.0
# doctor: CUDA drivers that work, fail, crash, hang or are something else.
# Made-up libraries stand first in the linker's path, for doctor alone.
. "${top_srcdir:?run by make check}/tests/lib.sh"
need cc
mkdir lib

# driver CUINIT [MORE]: a libcuda whose cuInit does this.
driver() {
	cat > cuda.c <<END
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int cuInit(unsigned flags) { (void)flags; $1 }
int cuDriverGetVersion(int *v) { *v = 12040; return 0; }
int cuDeviceGetCount(int *n) { *n = 2; return 0; }
${2-}
END
	cc -shared -fPIC -o lib/libcuda.so.1 cuda.c || fail "cc"
}

# expect_driver REGEX: doctor ends well, with this row.
expect_driver() {
	run env LD_LIBRARY_PATH="$PWD/lib" COLUMNS=200 "$destall" doctor
	expect_status 0
	expect_no_err
	expect_out "^  $1"
}

driver 'return 0;'
expect_driver 'ok +CUDA driver +12.4, 2 GPUs$'
driver 'return 100;'
expect_driver 'missing +CUDA driver +12.4, but error 100$'
expect_out 'CUDA_VISIBLE_DEVICES'
driver 'abort();'
expect_driver 'missing +CUDA driver +libcuda.so.1 crashed: Aborted$'
driver 'exit(0);'
expect_driver 'missing +CUDA driver +libcuda.so.1 gave no sensible answer$'
driver 'exit(9);'
expect_driver 'missing +CUDA driver +libcuda.so.1 ended with status 9$'
driver 'for (;;) pause();'
expect_driver 'missing +CUDA driver +libcuda.so.1 gave no answer in time$'

# One that prints does not disturb us, and nobody's profiler is loaded.
driver 'puts("noise"); fflush(stdout); write(2, "noise", 5);
	return getenv("CUDA_INJECTION64_PATH") != NULL ? 999 : 0;'
CUDA_INJECTION64_PATH=/some/profiler.so
export CUDA_INJECTION64_PATH
expect_driver 'ok +CUDA driver +12.4, 2 GPUs$'
! grep -q noise "$work/out" || fail "the noise came through"

# Not a driver; not even a library.
echo 'int other;' > other.c
cc -shared -fPIC -o lib/libcuda.so.1 other.c || fail "cc"
expect_driver 'missing +CUDA driver '
expect_out 'cuDeviceGetCount|cuInit'
echo garbage > lib/libcuda.so.1
expect_driver 'missing +CUDA driver .*libcuda.so.1: '

# CUPTI: the newest that loads, and any error is none.
driver 'return 0;'
echo 'int cuptiGetVersion(unsigned *v) { *v = 26; return 0; }' > cupti.c
cc -shared -fPIC -o lib/libcupti.so.13 cupti.c || fail "cc"
expect_driver 'ok +CUPTI +libcupti.so.13, API 26$'
echo 'int cuptiGetVersion(unsigned *v) { *v = 26; return 999; }' > cupti.c
cc -shared -fPIC -o lib/libcupti.so.13 cupti.c || fail "cc"
expect_driver 'missing +CUPTI '
