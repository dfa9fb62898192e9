/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_args.c: any bytes as a command line, over a table with every kind of
 * option.  NUL ends a word.
 */

#include <config.h>

#include <errno.h>

#include "base/args.h"
#include "base/parse.h"
#include "tests/fuzz/fuzz.h"

#define MAX_WORDS	12

const char fuzz_name[] = "args";

struct options {
	bool flag;
	const char *output;
	uint64_t count, size, wait;
	double share;
	struct budget cache;
	unsigned order;
	size_t length;
};

static const char *const orders[] = { "random", "listed", "reverse", NULL };

static int
parse_length(const char *text, void *field, struct ds_err *err)
{
	if (*text == '!')
		return err_fail(err, -EINVAL, "no");
	*(size_t *)field = strlen(text);
	return 0;
}

#define FIELD(f)	offsetof(struct options, f)

static const struct arg_option table[] = {
	{ "flag", 'f', ARG_FLAG, FIELD(flag), NULL, "", 0, 0, NULL, NULL },
	{ "output", 'o', ARG_TEXT, FIELD(output), "FILE", "", 0, 0, NULL, NULL },
	{ "count", 'n', ARG_COUNT, FIELD(count), "N", "", 1, 99, NULL, NULL },
	{ "size", 's', ARG_SIZE, FIELD(size), "SIZE", "", 0, 0, NULL, NULL },
	{ "wait", 0, ARG_DURATION, FIELD(wait), "TIME", "", 0, 0, NULL, NULL },
	{ "share", 0, ARG_SHARE, FIELD(share), "P%", "", 0, 0, NULL, NULL },
	{ "cache", 0, ARG_BUDGET, FIELD(cache), "SIZE", "", 0, 0, NULL, NULL },
	{ "order", 0, ARG_CHOICE, FIELD(order), "HOW", "", 0, 0, orders, NULL },
	{ "length", 0, ARG_PARSED, FIELD(length), "X", "", 0, 0, NULL,
	    parse_length },
	{ .name = NULL },
};

static bool
is_one_of(const char *word, char **argv, int argc)
{
	for (int i = 1; i < argc; i++) {
		if (argv[i] == word)
			return true;
	}
	return false;
}

static int
parse(int argc, char **argv, struct options *o, char **operands, int *nr)
{
	struct args a = { .options = o, .operands = operands };
	struct ds_err err;
	int rc;

	*o = (struct options){ .count = 1 };
	rc = args_parse(table, argc, argv, &a, &err);
	if (rc < 0) {
		must(rc == -EINVAL || rc == -ERANGE);
		fuzz_check_error(&err, rc);
	}
	must(rc <= ARGS_VERSION);
	must(a.nr_operands >= 0 && a.nr_operands < argc);
	for (int i = 0; i < a.nr_operands; i++)
		must(is_one_of(operands[i], argv, argc));
	*nr = a.nr_operands;
	return rc;
}

static void
check_options(const struct options *o, char **argv, int argc)
{
	must(o->count >= 1 && o->count <= 99);
	must(o->share >= 0 && o->share <= 1);
	must(o->order < 3);
	if (o->cache.is_share)
		must(o->cache.share > 0 && o->cache.share <= 1);
	if (o->output == NULL)
		return;
	/* Borrowed from the command line, never a copy. */
	for (int i = 1; i < argc; i++) {
		if (o->output >= argv[i] &&
		    o->output <= argv[i] + strlen(argv[i]))
			return;
	}
	must_fail(__FILE__, __LINE__, "the value lies in a word");
}

/* A line that is right stays right with one more operand after "--". */
static void
check_longer(int argc, char **argv, int nr_before)
{
	static char dashes[] = "--", word[] = "-x";
	char *operands[MAX_WORDS + 4];
	struct options o;
	int nr;

	argv[argc] = dashes;
	argv[argc + 1] = word;
	must(parse(argc + 2, argv, &o, operands, &nr) == ARGS_RUN);
	must(nr == nr_before + 1 || nr == nr_before + 2);
	must(operands[nr - 1] == word);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static char name[] = "command";
	char *argv[MAX_WORDS + 4] = { name };
	char *operands[MAX_WORDS + 4];
	struct options o;
	int argc = 1, nr;

	while (len > 0 && argc <= MAX_WORDS) {
		char *word = fuzz_text(bytes, len);
		size_t used = strlen(word) + 1;

		argv[argc++] = word;
		if (used >= len)
			break;
		bytes += used;
		len -= used;
	}
	if (parse(argc, argv, &o, operands, &nr) == ARGS_RUN) {
		check_options(&o, argv, argc);
		check_longer(argc, argv, nr);
	}
	for (int i = 1; i < argc; i++)
		free(argv[i]);
	return 0;
}
