/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz.h: what the fuzz targets share.
 *
 * A target is one file fuzz_NAME.c: it takes any bytes and asserts, with
 * must(), what holds for every input.  libFuzzer runs it (`make fuzz`, a build
 * with CC=clang and --enable-fuzz); replay.c runs it over corpus/NAME in every
 * `make check`.
 */

#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"

extern const char fuzz_name[];
	/* Of the target, and of its folder in corpus/. */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
	/* Returns 0. */

/* A copy that ends where the heap block does, so that AddressSanitizer sees
 * any read past it.  The caller frees it. */
static inline void *
fuzz_copy(const void *bytes, size_t len)
{
	void *copy = calloc(len > 0 ? len : 1, 1);

	must(copy != NULL);
	if (len > 0)
		memcpy(copy, bytes, len);
	return copy;
}

/* The same as a terminated text, cut at the first NUL. */
static inline char *
fuzz_text(const uint8_t *bytes, size_t len)
{
	char *text;

	len = len > 0 ? strnlen((const char *)bytes, len) : 0;
	text = malloc(len + 1);
	must(text != NULL);
	if (len > 0)
		memcpy(text, bytes, len);
	text[len] = '\0';
	return text;
}

/* A descriptor of no use, opened once. */
static inline int
fuzz_null(void)
{
	static int null;

	if (null > 0)
		return null;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	must(null > 0);
	return null;
}

/* The descriptor that would be opened next: it grows when one leaks. */
static inline int
fuzz_next_fd(void)
{
	int fd = dup(fuzz_null());

	must(fd >= 0);
	close(fd);
	return fd;
}

/* A failure has its code and one terminated, non-empty sentence. */
static inline void
fuzz_check_error(const struct ds_err *err, int rc)
{
	must(rc < 0 && err->code == rc);
	must(memchr(err->text, '\0', sizeof err->text) != NULL);
	must(err->text[0] != '\0');
}

#endif
