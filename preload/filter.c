/* SPDX-License-Identifier: Apache-2.0
 *
 * filter.c: might an open concern a data set?  Runs in any program that the
 * object is preloaded in.
 */

#include <config.h>

#include "preload/filter.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cache/roots.h"

/* As long as execve(2) lets a variable be, with pages of 4 KiB: what is not
 * touched costs nothing. */
#define TEXT_MAX	(32u * 4096u)

static char text[TEXT_MAX];		/* the roots, each terminated */
static size_t text_used;
static const char *roots[FILTER_ROOTS_MAX];
static _Atomic unsigned nr_roots;
static _Atomic bool is_late;

/* Where the program's folder is, in one word, so that all that is known of it
 * belongs together: in the answer's bits a state, for CWD_ABOVE one of the roots
 * below the folder and the length of the folder's path, which that root begins
 * with; above them, how often the folder has changed.  An answer is kept only
 * if that count is still what it was before the question: else it would outlive
 * the chdir() of another thread. */
enum cwd { CWD_UNKNOWN, CWD_OUTSIDE, CWD_ABOVE, CWD_INSIDE };
#define CWD_STATE	UINT64_C(3)
#define CWD_ROOT_SHIFT	2
#define CWD_LEN_SHIFT	7
#define CWD_ANSWER	((UINT64_C(1) << 20) - 1)
static _Atomic uint64_t cwd;

static_assert(FILTER_ROOTS_MAX <= 1u << (CWD_LEN_SHIFT - CWD_ROOT_SHIFT) &&
    PATH_MAX <= CWD_ANSWER >> CWD_LEN_SHIFT &&
    (FILTER_ROOTS_MAX & (FILTER_ROOTS_MAX - 1)) == 0, "an answer fits");

unsigned
filter_nr(void)
{
	/* acquire: pairs with the release in add_root() */
	return atomic_load_explicit(&nr_roots, memory_order_acquire);
}

bool
filter_is_late(void)
{
	/* relaxed: set before the first open that could ask */
	return atomic_load_explicit(&is_late, memory_order_relaxed);
}

/*--- paths ---------------------------------------------------------------*/

/* Past slashes, and names that are a single dot. */
static const char *
skip_nothing(const char *p)
{
	for (;;) {
		if (p[0] == '/')
			p++;
		else if (p[0] == '.' && (p[1] == '/' || p[1] == '\0'))
			p++;
		else
			return p;
	}
}

/* root has none of what is skipped. */
static bool
is_under(const char *p, const char *root)
{
	while (*root == '/') {
		root++;
		p = skip_nothing(p);
		while (*root != '\0' && *root != '/' && *p == *root) {
			p++;
			root++;
		}
		if ((*root != '\0' && *root != '/') ||
		    (*p != '\0' && *p != '/'))
			return false;
	}
	return *p == '/';
}

static bool
is_inside(const char *path)
{
	for (unsigned n = 0, nr = filter_nr(); n < nr; n++) {
		if (is_under(path, roots[n]))
			return true;
	}
	return false;
}

static bool
leads_up(const char *path)
{
	const char *p = path;

	while ((p = strstr(p, "..")) != NULL) {
		if ((p == path || p[-1] == '/') &&
		    (p[2] == '/' || p[2] == '\0'))
			return true;
		p += 2;
	}
	return false;
}

/*--- the program's folder ------------------------------------------------*/

void
filter_cwd_changed(void)
{
	uint64_t was = atomic_load_explicit(&cwd, memory_order_relaxed);

	/* One more, and no answer.  release: who sees the count finds the new
	 * folder; pairs with the acquire in get_cwd(). */
	while (!atomic_compare_exchange_weak_explicit(&cwd, &was,
	    (was | CWD_ANSWER) + 1, memory_order_release, memory_order_relaxed))
		continue;
}

/* folder: so many bytes of a path, "/" as none. */
static bool
is_below(const char *root, const char *folder, size_t len)
{
	return strncmp(root, folder, len) == 0 && root[len] == '/';
}

/* The answer for a folder, whose path has room for two more bytes. */
static uint64_t
judge_folder(char *path, size_t len)
{
	path[len] = '/';		/* so that a root is inside itself */
	path[len + 1] = '\0';
	if (is_inside(path))
		return CWD_INSIDE;
	for (unsigned n = 0, nr = filter_nr(); n < nr; n++) {
		if (is_below(roots[n], path, len))
			return CWD_ABOVE | (uint64_t)n << CWD_ROOT_SHIFT |
			    (uint64_t)len << CWD_LEN_SHIFT;
	}
	return CWD_OUTSIDE;
}

/* known: what the word was before, without an answer. */
static uint64_t
find_cwd(uint64_t known)
{
	char path[PATH_MAX + 1];
	long size = syscall(SYS_getcwd, path, PATH_MAX);
	uint64_t found;

	if (size <= 1 || size > PATH_MAX)
		return CWD_OUTSIDE;
	found = judge_folder(path, size == 2 ? 0 : (size_t)size - 1);
	/* relaxed: the word is all there is.  If it fails, another has found
	 * the same, or the folder has changed. */
	(void)atomic_compare_exchange_strong_explicit(&cwd, &known,
	    known | found, memory_order_relaxed, memory_order_relaxed);
	return found;
}

static uint64_t
get_cwd(void)
{
	/* acquire: pairs with the release in filter_cwd_changed() */
	uint64_t known = atomic_load_explicit(&cwd, memory_order_acquire);

	return (known & CWD_STATE) != CWD_UNKNOWN ? known : find_cwd(known);
}

/* answer: that the folder is above a root. */
static bool
leads_below(const char *path, uint64_t answer)
{
	const char *one = roots[answer >> CWD_ROOT_SHIFT &
	    (FILTER_ROOTS_MAX - 1)];
	size_t len = (answer & CWD_ANSWER) >> CWD_LEN_SHIFT;

	for (unsigned n = 0, nr = filter_nr(); n < nr; n++) {
		if (is_below(roots[n], one, len) &&
		    is_under(path, roots[n] + len))
			return true;
	}
	return false;
}

/* answer: of the folder that it begins at. */
static enum filter
judge_relative(const char *path, uint64_t answer)
{
	uint64_t state = answer & CWD_STATE;

	if (state == CWD_INSIDE ||
	    (state == CWD_ABOVE && leads_below(path, answer)))
		return FILTER_YES;
	return leads_up(path) ? FILTER_LOOK : FILTER_NO;
}

enum filter
filter_path(int dir, const char *path)
{
	if (filter_nr() == 0)
		return FILTER_NO;
	if (filter_is_late())
		return is_inside(path) ? FILTER_YES : FILTER_LOOK;
	if (path[0] == '/')
		return is_inside(path) ? FILTER_YES : FILTER_NO;
	if (dir != AT_FDCWD)
		return FILTER_LOOK;
	return judge_relative(path, get_cwd());
}

/*--- the file itself -----------------------------------------------------*/

/* Of the folder that was judged last: the answer, as for the program's folder,
 * and above it a hash of its device and inode.  If two folders have the same
 * hash, if one that is outside is moved into a root or shown there by a mount,
 * or its inode becomes another's, then files go uncached; nothing else can come
 * of it. */
static _Atomic uint64_t judged;

/* Its path, without its end: 0, or how long it is. */
static size_t
find_path(int fd, char path[PATH_MAX])
{
	char link[64];
	ssize_t n;

	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX);
	return n > 0 && n < PATH_MAX ? (size_t)n : 0;
}

static bool
is_file_inside(int fd)
{
	char path[PATH_MAX];
	size_t len = find_path(fd, path);

	path[len] = '\0';
	return is_inside(path);
}

/* If it cannot be told, its files must. */
static uint64_t
find_folder(int dir)
{
	char path[PATH_MAX + 1];
	size_t len = find_path(dir, path);

	return len > 0 ? judge_folder(path, len == 1 ? 0 : len) : CWD_INSIDE;
}

/* Its server, if it has one, is not asked. */
static bool
hash_folder(int dir, uint64_t *hash)
{
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
	struct statx stx;

	if (statx(dir, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO,
	    &stx) != 0)
		return false;
	*hash = ((uint64_t)stx.stx_dev_major << 32 | stx.stx_dev_minor) * odd;
	*hash = (*hash ^ *hash >> 32 ^ stx.stx_ino) * odd & ~CWD_ANSWER;
	return true;
}

static uint64_t
get_folder(int dir)
{
	uint64_t hash, known;

	if (!hash_folder(dir, &hash))
		return CWD_INSIDE;
	/* relaxed: the word is all there is */
	known = atomic_load_explicit(&judged, memory_order_relaxed);
	if ((known & ~CWD_ANSWER) == hash && (known & CWD_STATE) != CWD_UNKNOWN)
		return known;
	known = hash | find_folder(dir);
	atomic_store_explicit(&judged, known, memory_order_relaxed);
	return known;
}

bool
filter_look(int fd, int dir, const char *path)
{
	/* What goes down from outside is outside: links are not followed. */
	if (dir != AT_FDCWD &&
	    judge_relative(path, get_folder(dir)) == FILTER_NO)
		return false;
	return is_file_inside(fd);
}

/*--- starting ------------------------------------------------------------*/

/* What is skipped in a path is taken out; it begins with a slash. */
static void
clean(char *path)
{
	const char *p = path;
	char *to = path;

	for (;;) {
		p = skip_nothing(p);
		if (*p == '\0')
			break;
		*to++ = '/';
		while (*p != '\0' && *p != '/')
			*to++ = *p++;
	}
	*to = '\0';
}

static bool
is_known(const char *root)
{
	for (unsigned n = 0, nr = filter_nr(); n < nr; n++) {
		if (strcmp(roots[n], root) == 0)
			return true;
	}
	return false;
}

/* One that is not absolute has no place here: whoever started us would have
 * made it so. */
static void
add_root(char *path)
{
	unsigned nr = filter_nr();

	if (path[0] != '/' || nr == FILTER_ROOTS_MAX)
		return;
	clean(path);
	if (path[0] == '\0' || is_known(path))
		return;
	roots[nr] = path;
	/* release: who sees the count sees the root; pairs with the acquire in
	 * filter_nr() */
	atomic_store_explicit(&nr_roots, nr + 1, memory_order_release);
}

static void
add_roots(const char *from)
{
	size_t len = strlen(from) + 1;
	char *p, *next;

	if (len > sizeof text - text_used)
		return;
	p = memcpy(text + text_used, from, len);
	text_used += len;
	for (; p != NULL; p = next) {
		next = strchr(p, ':');
		if (next != NULL)
			*next++ = '\0';
		add_root(p);
	}
}

static void
add_arguments(int argc, char *const argv[])
{
	struct roots found = { .nr = 0 };
	char *list = NULL;

	if (roots_from_args(&found, argc, argv) > 0 &&
	    roots_text(&found, &list, NULL) == 0)
		add_roots(list);
	free(list);
	roots_fini(&found);
}

void
filter_start(int argc, char *const argv[])
{
	const char *data = getenv("DESTALL_DATA");

	if (data != NULL)
		add_roots(data);
	else
		add_arguments(argc, argv);
}

void
filter_add_late(const char *list)
{
	if (!filter_is_late()) {
		/* relaxed: nobody has opened a file through us yet */
		atomic_store_explicit(&nr_roots, 0, memory_order_relaxed);
		text_used = 0;
		atomic_store_explicit(&is_late, true, memory_order_relaxed);
	}
	add_roots(list);
}

const char *
filter_root(unsigned n)
{
	return n < filter_nr() ? roots[n] : NULL;
}
