/* SPDX-License-Identifier: Apache-2.0
 *
 * args.h: options as a table.  Runs in every process.
 *
 * A command declares a struct for its options and a table with a line for
 * each; parsing, --help, the man page and the shell completions all read that
 * table.  "--name=value" and "--name value" are the same; an option may stand
 * before or after operands, unless the first operand ends the options because
 * it is a command with options of its own; "--" ends them in any case.
 */

#ifndef BASE_ARGS_H
#define BASE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum arg_kind {			/* the field in the struct of options */
	ARG_FLAG,		/* bool */
	ARG_TEXT,		/* const char * */
	ARG_LIST,		/* struct arg_list: may be given several times */
	ARG_COUNT,		/* uint64_t, from min to max */
	ARG_SIZE,		/* uint64_t, bytes */
	ARG_DURATION,		/* uint64_t, ns */
	ARG_SHARE,		/* double, 0 to 1 */
	ARG_BUDGET,		/* struct budget */
	ARG_CHOICE,		/* unsigned, index into choices */
	ARG_PARSED,		/* whatever parse() makes of it */
};

#define ARG_LIST_MAX	16u

struct arg_list {
	const char	*text[ARG_LIST_MAX];	/* in the order given */
	unsigned	nr;
};

typedef int arg_parse_f(const char *text, void *field, struct ds_err *err);

struct arg_option {
	const char		*name;		/* without dashes */
	char			letter;		/* of a short form, or 0 */
	enum arg_kind		kind;
	size_t			offset;		/* of the field */
	const char		*value;		/* its name in --help; NULL of a flag */
	const char		*help;		/* one sentence */
	uint64_t		min, max;	/* ARG_COUNT */
	const char *const	*choices;	/* ARG_CHOICE, ends with NULL */
	arg_parse_f		*parse;		/* ARG_PARSED */
};
/* A table ends with an option without a name; it has 64 at most. */

enum args_outcome { ARGS_RUN, ARGS_HELP, ARGS_VERSION };

struct args {
	bool	command_follows; /* the first operand ends the options */
	void	*options;	/* filled from the table */
	char	**operands;	/* as many as argv has, the caller's */
	int	nr_operands;
};

int args_parse(const struct arg_option *table, int argc, char **argv,
    struct args *out, struct ds_err *err);
	/* argv[0] is skipped.  An enum args_outcome; -EINVAL, -ERANGE or
	 * -E2BIG names the wrong option and, if there is one, the nearest
	 * right one; some options may be filled then. */

int args_set(const struct arg_option *table, void *options, const char *name,
    const char *value, struct ds_err *err);
	/* One option by its name, for who has no command line; a flag is "yes"
	 * or "no".  -ENOENT: there is none, and what may have been meant;
	 * -EINVAL, -ERANGE: the value is wrong; the option is left alone then. */

#endif
