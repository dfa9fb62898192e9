/* SPDX-License-Identifier: Apache-2.0
 *
 * roots.h: the folders whose files are a job's data.  Runs in clients, and in
 * the command that starts them.
 *
 * They are named by the user (--data, DESTALL_DATA), or else found on the job's
 * command line.  The rule for that:
 *
 *     Every argument after the command's name that names an existing folder is
 *     a root, whether it is the whole argument or what follows its first '='
 *     (--data=/x).  Links are followed first.  Never a root are
 *       - the folder the job starts in, and those that contain it;
 *       - the home folder ($HOME), and those that contain it;
 *       - system folders and what lies in them: /bin /boot /dev /etc /lib
 *         /lib32 /lib64 /libx32 /proc /run /sbin /sys /usr;
 *       - /home /media /mnt /opt /root /srv /tmp /var themselves; what lies in
 *         them may be;
 *       - folders that may not be read, whose names hold a colon, or that come
 *         after the first 16.
 *     Of a folder and another within it the outer one is the root.
 *
 * Whoever wants another choice names it: then only what was named counts, and
 * it may be any folder but "/".
 *
 *  1. Both spellings are absolute and do not end with a slash.  canonical has
 *     no link, ".", ".." or double slash in it; given is as it was spelled.
 *  2. No canonical lies within another, and none holds a colon.
 *
 * A second spelling of a root, or of a folder within one, is dropped with it:
 * programs that use that spelling are not seen to read the root.
 */

#ifndef CACHE_ROOTS_H
#define CACHE_ROOTS_H

#include "base/err.h"

#define ROOTS_MAX	16u

struct root {
	char	*given;
	char	*canonical;
};

struct roots {			/* begins as zeros */
	struct root	root[ROOTS_MAX];
	unsigned	nr;
};

int roots_add(struct roots *r, const char *dir, struct ds_err *err);
	/* A relative one is taken from the current folder.  0, also if it is
	 * within one that is there; one that contains others takes their place.
	 * -ENOENT, -ENOTDIR, -EACCES (it must be readable and searchable);
	 * -EINVAL for "/", and for one that roots_text() could not name; -E2BIG
	 * past ROOTS_MAX.  On failure nothing is changed. */

#define ROOTS_OPEN	":"
	/* In DESTALL_DATA: nobody has named a data set, and none is looked for
	 * on command lines any more; a PyTorch loader may tell its own. */

int roots_from_text(struct roots *r, const char *text, struct ds_err *err);
	/* What DESTALL_DATA says: folders separated by colons; empty parts are
	 * passed over.  A path with a colon in it cannot be named: give another
	 * spelling of it, a link.  The first part that fails ends it: those
	 * before it have been added. */

unsigned roots_from_args(struct roots *r, int argc, char *const argv[]);
	/* By the rule above; argv[0] is the command's name.  How many arguments
	 * became roots. */

int roots_text(const struct roots *r, char **out, struct ds_err *err);
	/* For DESTALL_DATA: of each root both spellings, once where they are
	 * equal; the given one is left out if there is a colon in it.  The
	 * caller frees it.  -ENOMEM. */

void roots_fini(struct roots *r);
	/* Leaves zeros. */

#endif
