/* SPDX-License-Identifier: Apache-2.0
 *
 * pictures.c: a folder of small JPEG files.
 */

#include <config.h>

#include "tests/harness/pictures.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "tool/gen_jpeg.h"
#include "tool/gen_picture.h"

#define SIDE_MAX	80u
#define QUALITY		85

static int
fail(const struct ds_err *err)
{
	fprintf(stderr, "pictures: %s\n", err->text);
	return -1;
}

static void
full_path(const struct pictures *p, const char *name, char path[512])
{
	(void)snprintf(path, 512, "%s/%s", p->path, name);
}

void
pictures_name(const struct pictures *p, uint64_t i, char name[64])
{
	uint64_t each = (p->nr + PICTURES_CLASSES - 1) / PICTURES_CLASSES;

	(void)snprintf(name, 64, "class%u/%04u.jpg", (unsigned)(i / each),
	    (unsigned)(i % each));
}

int
pictures_put(const struct pictures *p, const char *name, const void *bytes,
    size_t len)
{
	char path[512];
	int fd, rc;

	full_path(p, name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	rc = io_write_all(fd, bytes, len);
	io_close(&fd);
	return rc;
}

int
pictures_cut(const struct pictures *p, uint64_t i)
{
	char name[64], path[512];
	struct stat st;

	pictures_name(p, i, name);
	full_path(p, name, path);
	if (stat(path, &st) != 0)
		return -1;
	return truncate(path, st.st_size / 2);
}

static int
make_files(struct pictures *p, struct gen_picture *g, struct gen_jpeg *j)
{
	struct ds_err err;
	char name[64];
	const uint8_t *bytes;
	size_t len;

	for (uint64_t i = 0; i < p->nr; i++) {
		gen_picture_make(g, 7, i, (unsigned)(SIDE_MAX - i % 31),
		    (unsigned)(SIDE_MAX / 2 + i % 37));
		if (gen_jpeg_encode(j, g, QUALITY, &bytes, &len, &err) < 0)
			return fail(&err);
		pictures_name(p, i, name);
		if (pictures_put(p, name, bytes, len) != 0)
			return -1;
	}
	return 0;
}

static int
make_folders(const struct pictures *p)
{
	char name[64], path[512];

	for (unsigned i = 0; i < PICTURES_CLASSES; i++) {
		(void)snprintf(name, sizeof name, "class%u", i);
		full_path(p, name, path);
		if (mkdir(path, 0700) != 0)
			return -1;
	}
	return 0;
}

int
pictures_make(struct pictures *p, uint64_t nr)
{
	struct gen_picture *g = NULL;
	struct gen_jpeg *j = NULL;
	struct ds_err err;
	int rc = -1;

	p->nr = nr;
	if (folder_make(p->path, "pictures") != 0 || make_folders(p) != 0)
		return -1;
	if (gen_picture_new(&g, SIDE_MAX, SIDE_MAX, &err) == 0 &&
	    gen_jpeg_new(&j, &err) == 0)
		rc = make_files(p, g, j);
	gen_jpeg_free(&j);
	gen_picture_free(&g);
	return rc;
}

int
pictures_remove(struct pictures *p)
{
	return folder_remove(p->path);
}
