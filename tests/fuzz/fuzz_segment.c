/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_segment.c: any bytes as our segment.
 *
 * They are checked where they lie, then put into a memfd and attached.  The
 * first byte chooses which of the seals are set.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/memfd.h"
#include "base/segment.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_name[] = "segment";

static const struct segment_kind kind = { "fuzz", 0x5a5a4653u, 2 };

/* By the offsets of the layout, not by segment_check(). */
static int
is_segment(const uint8_t *p, size_t len)
{
	uint32_t word[4];
	uint64_t size;

	if (len < 32)
		return 0;
	memcpy(word, p, sizeof word);
	memcpy(&size, p + 16, sizeof size);
	return word[0] == kind.magic && word[1] == kind.layout &&
	    word[2] == 0x01020304u && word[3] == 32 && size == len;
}

static void
check_bytes(const uint8_t *bytes, size_t len)
{
	uint8_t *tight = fuzz_copy(bytes, len);
	struct ds_err err;
	int rc = segment_check(&kind, tight, len, &err);

	must(rc == (is_segment(bytes, len) ? 0 : -EBADMSG));
	if (rc < 0) {
		fuzz_check_error(&err, rc);
		must(strncmp(err.text, "fuzz: ", 6) == 0);
	}
	free(tight);
}

static int
memfd_of(const uint8_t *bytes, size_t len, int seals)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	must(fd >= 0);
	must(io_write_all(fd, bytes, len) == 0);
	must(fcntl(fd, F_ADD_SEALS, seals) == 0);
	return fd;
}

static void
attach(const uint8_t *bytes, size_t len, int seals)
{
	const int size_seals = F_SEAL_SHRINK | F_SEAL_GROW;
	const int write_seals = F_SEAL_WRITE | F_SEAL_FUTURE_WRITE;
	int good = (seals & size_seals) == size_seals &&
	    (seals & write_seals) != 0 && is_segment(bytes, len);
	int fd = memfd_of(bytes, len, seals), rc;
	struct segment seg = { .fd = -1 };
	struct ds_err err;

	rc = segment_attach(&seg, &kind, fd, &err);
	must(rc == (good ? 0 : -EBADMSG));
	if (rc == 0) {
		must(seg.fd == fd && seg.len == len);
		must(memcmp(seg.base, bytes, len) == 0);
		segment_detach(&seg);
		must(fcntl(fd, F_GETFD) < 0 && seg.base == NULL);
	} else {
		fuzz_check_error(&err, rc);
		must(seg.fd == -1 && seg.base == NULL);
		must(fcntl(fd, F_GETFD) >= 0);	/* still the caller's */
		close(fd);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const int choices[] = {
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL,
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE,
		F_SEAL_SHRINK | F_SEAL_GROW,
		F_SEAL_GROW | F_SEAL_WRITE,
		F_SEAL_SHRINK | F_SEAL_WRITE,
		0,
	};

	if (len == 0)
		return 0;
	check_bytes(bytes + 1, len - 1);
	attach(bytes + 1, len - 1,
	    choices[bytes[0] % (sizeof choices / sizeof choices[0])]);
	return 0;
}
