/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_scan.c: which images of a data set are there.  Runs in the command only.
 */

#include <config.h>

#include "tool/gen_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/io.h"

#define SEEN_EVERY	16u	/* images, between two calls of seen() */

/*--- what was found ------------------------------------------------------*/

int
gen_found_init(struct gen_found *f, uint64_t asked, bool with_bits,
    struct ds_err *err)
{
	*f = (struct gen_found){ .asked = asked };
	hist_init(&f->sizes);
	if (!with_bits)
		return 0;
	f->bits = calloc(asked / 8 + 1, 1);
	if (f->bits == NULL)
		return err_fail(err, -ENOMEM, "no memory for the list of "
		    "images");
	return 0;
}

void
gen_found_fini(struct gen_found *f)
{
	free(f->bits);
	f->bits = NULL;
}

int
gen_found_add(struct gen_found *f, uint64_t index, uint64_t size)
{
	int rc = crash_point("gen.scanned");

	if (rc < 0)
		return rc;
	if (index < f->asked) {
		if (f->bits != NULL)
			f->bits[index / 8] |= (uint8_t)(1u << index % 8);
		hist_add(&f->sizes, size);
	}
	f->in_set++;
	return f->in_set % SEEN_EVERY == 0 && f->seen != NULL &&
	    !f->seen(f->arg, f->in_set);
}

/*--- files ---------------------------------------------------------------*/

/* One name in a class folder.  An empty file is no image: it is what a file
 * system may leave of a new file when the power fails. */
static int
scan_name(const struct gen_set *s, int class_fd, uint64_t class,
    const char *name, struct gen_found *f)
{
	uint64_t index;
	struct stat st;

	if (!gen_plan_index(s->plan, class, name, &index))
		return 0;
	if (fstatat(class_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		return 0;
	return gen_found_add(f, index, (uint64_t)st.st_size);
}

/* Takes the descriptor over. */
static int
scan_class(const struct gen_set *s, int fd, uint64_t class,
    struct gen_found *f)
{
	DIR *d = fdopendir(fd);
	const struct dirent *e;
	int rc = 0;

	if (d == NULL) {
		rc = -errno;
		io_close(&fd);
		return rc;
	}
	while (rc == 0 && (errno = 0, e = readdir(d)) != NULL)
		rc = scan_name(s, dirfd(d), class, e->d_name, f);
	if (rc == 0)
		rc = -errno;	/* 0 at the end of the folder */
	closedir(d);
	return rc;
}

int
gen_scan(const struct gen_set *s, struct gen_found *f, struct ds_err *err)
{
	char name[GEN_NAME];
	int fd, rc = 0;

	for (uint64_t c = 0; c < s->plan->classes && rc == 0; c++) {
		gen_plan_class_name(name, c);
		fd = gen_set_open_class(s, c, O_RDONLY);
		if (fd == -ENOENT)
			continue;
		if (fd < 0)
			return gen_set_fail_open(s, name, -fd, err);
		rc = scan_class(s, fd, c, f);
		if (rc < 0) {
			errno = -rc;
			return err_errno(err, "cannot list %s/%s", s->path,
			    name);
		}
	}
	return rc;
}
