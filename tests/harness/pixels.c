/* SPDX-License-Identifier: Apache-2.0
 *
 * pixels.c: pictures, decoded as the loader does.  Run by tests.
 *
 *     pixels make FOLDER WIDTH HEIGHT     a JPEG of each kind, KIND.jpg
 *     pixels read FILE... [-- X Y W H]    each as R, G, B, to stdout
 *     pixels shake COUNT SEED FILE...     COUNT times with a byte changed
 *
 * "shake" prints how often a file was whole, damaged, refused, and the longest
 * time of a processor that one took; a limit that did not hold fails it.
 */

#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/must.h"
#include "prep/picture.h"
#include "tests/harness/jpegs.h"

#define TIME_NS		UINT64_C(500000000)
#define FILE_MAX	((size_t)1 << 26)

static struct picture_limits limits = {
	.bytes = FILE_MAX, .pixels = 178956970, .scans = 100,
	.time_ns = TIME_NS, .memory = 1 << 30,
};

static _Noreturn void
die(const char *what, const char *why)
{
	fprintf(stderr, "pixels: %s: %s\n", what, why);
	exit(1);
}

static uint8_t *
read_file(const char *path, size_t *len)
{
	uint8_t *bytes = malloc(FILE_MAX);
	FILE *f = fopen(path, "re");

	if (f == NULL || bytes == NULL)
		die(path, strerror(errno));
	*len = fread(bytes, 1, FILE_MAX, f);
	fclose(f);
	return bytes;
}

/*--- make ----------------------------------------------------------------*/

static void
make_one(const char *folder, const struct jpeg_kind *k, unsigned width,
    unsigned height)
{
	char path[4096];
	size_t len;
	uint8_t *bytes = jpegs_make(k, width, height, 1, &len);
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/%s.jpg", folder, k->name);
	for (char *c = path; *c != '\0'; c++)
		*c = *c == ' ' || *c == ':' ? '-' : *c;
	f = fopen(path, "we");
	if (f == NULL || fwrite(bytes, 1, len, f) != len || fclose(f) != 0)
		die(path, strerror(errno));
	free(bytes);
}

static void
make(const char *folder, unsigned width, unsigned height)
{
	for (const struct jpeg_kind *k = jpeg_kinds; k->name != NULL; k++)
		make_one(folder, k, width, height);
}

/*--- read ----------------------------------------------------------------*/

static int
decode(struct picture *p, const uint8_t *bytes, size_t len,
    const struct picture_box *wanted, FILE *to, struct ds_err *err)
{
	struct picture_box box;
	const uint8_t *row;
	int rc = picture_open(p, bytes, len, err);

	if (rc < 0)
		return rc;
	box = wanted != NULL ? *wanted : (struct picture_box){
	    .width = picture_width(p), .height = picture_height(p) };
	rc = picture_start(p, &box, err);
	for (uint32_t y = 0; rc == 0 && y < box.height; y++) {
		rc = picture_row(p, &row, err);
		for (uint32_t x = 0; rc == 0 && to != NULL && x < box.width; x++)
			(void)fwrite(row + (size_t)x * PICTURE_PIXEL, 1, 3, to);
	}
	picture_close(p);
	return rc;
}

static void
read_files(struct picture *p, char **paths, const struct picture_box *box)
{
	struct ds_err err;
	size_t len;

	for (; *paths != NULL && strcmp(*paths, "--") != 0; paths++) {
		uint8_t *bytes = read_file(*paths, &len);

		if (decode(p, bytes, len, box, stdout, &err) < 0)
			die(*paths, err.text);
		free(bytes);
	}
}

/*--- shake ---------------------------------------------------------------*/

struct tally {
	unsigned long	whole, damaged, refused;
	uint64_t	most_ns;
};

static uint64_t
spent_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* A byte changed, a few lost or some more, in turn. */
static void
hurt(uint8_t *bytes, size_t *len, unsigned *seed)
{
	size_t at = (size_t)rand_r(seed) % *len;

	switch (rand_r(seed) % 16) {
	case 0:
		*len = at;
		break;
	case 1:
		memset(bytes + at, rand_r(seed), *len - at < 64 ? *len - at : 64);
		break;
	default:
		bytes[at] = (uint8_t)(bytes[at] ^ (1u << rand_r(seed) % 8));
	}
}

static void
try_once(struct picture *p, const uint8_t *bytes, size_t len, struct tally *t)
{
	struct ds_err err = { .code = 0 };
	uint64_t before = spent_ns();
	int rc = decode(p, bytes, len, NULL, NULL, &err);
	uint64_t took = spent_ns() - before;

	must(rc == 0 || (rc < 0 && err.code == rc && err.text[0] != '\0'));
	t->whole += rc == 0 && !picture_was_damaged(p);
	t->damaged += rc == 0 && picture_was_damaged(p);
	t->refused += rc < 0;
	if (took > t->most_ns)
		t->most_ns = took;
}

static void
shake(struct picture *p, const char *path, unsigned long nr, unsigned seed)
{
	struct tally t = { 0 };
	size_t len, hurt_len;
	uint8_t *bytes = read_file(path, &len), *copy;

	for (unsigned long i = 0; i < nr; i++) {
		copy = malloc(len);
		must(copy != NULL);
		memcpy(copy, bytes, len);
		hurt_len = len;
		hurt(copy, &hurt_len, &seed);
		try_once(p, copy, hurt_len, &t);
		free(copy);
	}
	printf("EVENT %lu changed bytes of a picture (%s: %lu whole, %lu "
	    "damaged, %lu refused, %llu us at most)\n", nr, path, t.whole,
	    t.damaged, t.refused, (unsigned long long)t.most_ns / 1000);
	if (t.most_ns > 2 * TIME_NS)
		die(path, "the limit of time did not hold");
	free(bytes);
}

/*--- main ----------------------------------------------------------------*/

static uint32_t
number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

static struct picture *
new_picture(void)
{
	struct picture *p;
	struct ds_err err;

	if (picture_new(&p, &limits, &err) < 0)
		die("new", err.text);
	return p;
}

int
main(int argc, char **argv)
{
	struct picture_box box = { 0 };
	struct picture *p;

	if (argc == 5 && strcmp(argv[1], "make") == 0) {
		make(argv[2], number(argv[3]), number(argv[4]));
		return 0;
	}
	if (argc < 3)
		die("usage", "make, read or shake");
	if (argc >= 8 && strcmp(argv[argc - 5], "--") == 0)
		box = (struct picture_box){ number(argv[argc - 4]),
		    number(argv[argc - 3]), number(argv[argc - 2]),
		    number(argv[argc - 1]) };
	p = new_picture();
	if (strcmp(argv[1], "read") == 0)
		read_files(p, argv + 2, box.width > 0 ? &box : NULL);
	for (int i = 4; i < argc && strcmp(argv[1], "shake") == 0; i++)
		shake(p, argv[i], strtoul(argv[2], NULL, 10), number(argv[3]));
	picture_free(&p);
	limits.truncated = true;
	p = new_picture();
	for (int i = 4; i < argc && strcmp(argv[1], "shake") == 0; i++)
		shake(p, argv[i], strtoul(argv[2], NULL, 10), number(argv[3]));
	picture_free(&p);
	return 0;
}
