/* SPDX-License-Identifier: Apache-2.0
 *
 * decode_loop.h: what the parts of decode_loop share.
 *
 * A shot is a picture of a data set and what becomes of it.  The shots of an
 * epoch are kept in a file, so that every contestant does the same ones: a line
 * for each, with the nine numbers of struct ds_cut and the name.
 */

#ifndef TESTS_BENCH_DECODE_LOOP_H
#define TESTS_BENCH_DECODE_LOOP_H

#include <stddef.h>
#include <stdint.h>

#include "destall.h"

struct shot {
	struct ds_cut	cut;
	void		*bytes;
	size_t		len;
};

struct shots {
	struct shot	*shot;
	size_t		nr;
};

_Noreturn void give_up(const char *what, const char *why);
void check(int rc, const char *what, const struct ds_err *err);

struct times {
	uint64_t wall_ns, cpu_ns;
};

struct times now(void);
void print_rates(uint64_t images, struct times since);
	/* The beginning of the JSON object that is the result. */

void shots_read(struct shots *s, const char *file, const char *folder,
    size_t part, size_t parts);
	/* Every parts-th of them from part on, with their bytes. */
void shots_free(struct shots *s);

/*--- libjpeg-turbo alone -------------------------------------------------*/

void bare_begin(const char *color);
	/* "rgb": three bytes for each pixel; "rgbx": four. */
void bare_decode(const struct shot *shot);
	/* The rows of the cut, each over the one before. */
void bare_methods(const struct shot *shot);
	/* Prints where its parts are in the library, for the profile: a
	 * stripped library has no names for them. */
void bare_end(void);

/*--- the loader ----------------------------------------------------------*/

void load(int argc, char **argv);
void load_shots(char **argv);
	/* As the loader says it: its order is its own. */

#endif
