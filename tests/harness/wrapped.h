/* SPDX-License-Identifier: Apache-2.0
 *
 * wrapped.h: calls every function that the preload object wraps, and prints
 * what came of it.  Shared by the files of tests/harness/wrapped.
 */

#ifndef TESTS_HARNESS_WRAPPED_H
#define TESTS_HARNESS_WRAPPED_H

#include <stdbool.h>
#include <sys/stat.h>

#include "preload/real.h"

void *wrapped_find(enum real_call call);
	/* The function as the program has it, by its very name: headers would
	 * choose another.  Remembers that it was called. */

#define CALL(name) ((real_##name *)wrapped_find(REAL_##name))

/* Every name with the parameters (path, flags), whatever else it takes. */
struct opener {
	const char	*name;
	bool		is_checked;	/* must not be given O_CREAT */
	int		(*open)(const char *path, int flags, mode_t mode);
};

#define NR_OPENERS 8u
extern const struct opener openers[NR_OPENERS];

#ifdef __x86_64__
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif

void begin(void);
	/* Before each call: errno becomes one that no call sets. */

void show(const char *call, const char *what, long rc);
	/* After it: the result, and errno, which success must leave alone. */

_Noreturn void give_up(const char *what);

void look(const char *path);		/* without changing anything */
void change(const char *path);		/* mode, times, attributes */
void mark(const char *path);		/* with an attribute to look at */
void create(const char *dir);
void fail(const char *dir);		/* everything that must fail */
void move_about(const char *dir);
void cancel(const char *fifo);

#endif
