/* SPDX-License-Identifier: Apache-2.0
 *
 * filter.h: might an open concern a data set?  Told from its path, for next to
 * nothing.  Runs in any program that the object is preloaded in.
 *
 *  1. Roots are strings here, and none is looked at: one on a server that hangs
 *     does not hold up who opens files outside all of them.  It does hold up
 *     who opens the first file of any: a process attaches to all its roots at
 *     once (attached.h).  And so it does at the start without $DESTALL_DATA,
 *     where the folders on the command line are looked at.
 *  2. No memory is allocated once it has started; before that, nothing concerns
 *     us: the program may be allocating its first byte.
 *  3. A link from outside into a root is not followed: such a file counts as
 *     outside.
 *  4. In an object that a program loads late, roots may be added while others
 *     ask: a root that is seen is whole, and stays.
 */

#ifndef PRELOAD_FILTER_H
#define PRELOAD_FILTER_H

#include <stdbool.h>

#define FILTER_ROOTS_MAX	32u	/* spellings */

enum filter {
	FILTER_NO,
	FILTER_YES,		/* its path lies in a root */
	FILTER_LOOK,		/* only the file itself can tell */
};

void filter_start(int argc, char *const argv[]);
	/* Once, while the program has one thread: the roots of $DESTALL_DATA,
	 * which are none if it is empty; only without it, those of the command
	 * line (cache/roots.h). */

enum filter filter_path(int dir, const char *path);
	/* As openat(2) takes them. */

bool filter_look(int fd, int dir, const char *path);
	/* What FILTER_LOOK asks for, of what was opened there: does the file
	 * lie in a root?  One after the other in a folder outside, that costs a
	 * stat of the folder each. */

void filter_add_late(const char *list);
	/* For who loads the object late, and calls no function of it but open()
	 * with paths that it has judged itself (its own chdir() is not seen), and
	 * for one that began without a root: these roots, as $DESTALL_DATA lists
	 * them, are added to those that he added before; what it started with is
	 * forgotten.  One thread at a time. */

bool filter_is_late(void);

void filter_cwd_changed(void);

unsigned filter_nr(void);

const char *filter_root(unsigned n);
	/* As spelled, absolute; NULL past the last. */

#endif
