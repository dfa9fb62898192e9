/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_args.c: tests of base/args.c.
 */

#include <config.h>

#include "base/args.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "tests/harness/unit.h"

#define MAX_WORDS	8

struct options {
	bool flag;
	const char *output;
	uint64_t count, size, wait;
	double share;
	struct budget cache;
	unsigned order;
	char last;
	struct arg_list data;
};

static const char *const orders[] = { "random", "listed", NULL };

/* Takes one letter. */
static int
parse_last(const char *text, void *field, struct ds_err *err)
{
	if (strlen(text) != 1)
		return err_fail(err, -EINVAL, "'%s' is no letter", text);
	*(char *)field = *text;
	return 0;
}

#define FIELD(f)	offsetof(struct options, f)

static const struct arg_option table[] = {
	{ "flag", 'f', ARG_FLAG, FIELD(flag), NULL, "", 0, 0, NULL, NULL },
	{ "output", 'o', ARG_TEXT, FIELD(output), "FILE", "", 0, 0, NULL, NULL },
	{ "count", 'n', ARG_COUNT, FIELD(count), "N", "", 1, 9, NULL, NULL },
	{ "size", 0, ARG_SIZE, FIELD(size), "SIZE", "", 0, 0, NULL, NULL },
	{ "wait", 0, ARG_DURATION, FIELD(wait), "TIME", "", 0, 0, NULL, NULL },
	{ "share", 0, ARG_SHARE, FIELD(share), "P%", "", 0, 0, NULL, NULL },
	{ "cache", 0, ARG_BUDGET, FIELD(cache), "SIZE", "", 0, 0, NULL, NULL },
	{ "order", 0, ARG_CHOICE, FIELD(order), "HOW", "", 0, 0, orders, NULL },
	{ "last", 'l', ARG_PARSED, FIELD(last), "X", "", 0, 0, NULL, parse_last },
	{ "data", 'd', ARG_LIST, FIELD(data), "DIR", "", 0, 0, NULL, NULL },
	{ .name = NULL },
};

struct line {
	const char *words[MAX_WORDS];
	const char *want;	/* of the error, or of show() */
};

static struct options opts;
static bool command_follows;
static char *operands[MAX_WORDS + 1];
static int nr_operands;

static int
parse(const char *const *words, struct ds_err *err)
{
	char *argv[MAX_WORDS + 1] = { (char *)(uintptr_t)"command" };
	struct args a = { .options = &opts, .operands = operands,
	    .command_follows = command_follows };
	int argc = 1, rc;

	for (; argc <= MAX_WORDS && words[argc - 1] != NULL; argc++)
		argv[argc] = (char *)(uintptr_t)words[argc - 1];
	opts = (struct options){ .output = "-", .last = '-' };
	rc = args_parse(table, argc, argv, &a, err);
	nr_operands = a.nr_operands;
	return rc;
}

static const char *
show(char *out, size_t size)
{
	int n = snprintf(out, size, "%d %s %d %d %d %.3f %d/%d/%.3f %u %c",
	    opts.flag, opts.output, (int)opts.count, (int)opts.size,
	    (int)opts.wait, opts.share, opts.cache.is_share,
	    (int)opts.cache.bytes, opts.cache.share, opts.order, opts.last);

	for (unsigned i = 0; i < opts.data.nr; i++)
		n += snprintf(out + n, size - (size_t)n, " +%s",
		    opts.data.text[i]);
	for (int i = 0; i < nr_operands; i++)
		n += snprintf(out + n, size - (size_t)n, " [%s]", operands[i]);
	return out;
}

static void
good_lines(void **state)
{
	static const struct line cases[] = {
		{ { NULL }, "0 - 0 0 0 0.000 0/0/0.000 0 -" },
		{ { "--flag" }, "1 - 0 0 0 0.000 0/0/0.000 0 -" },
		{ { "-f" }, "1 - 0 0 0 0.000 0/0/0.000 0 -" },
		{ { "--output=x" }, "0 x 0 0 0 0.000 0/0/0.000 0 -" },
		{ { "--output", "x" }, "0 x 0 0 0 0.000 0/0/0.000 0 -" },
		{ { "--output=" }, "0  0 0 0 0.000 0/0/0.000 0 -" },
		{ { "--output=a=b" }, "0 a=b 0 0 0 0.000 0/0/0.000 0 -" },
		{ { "--output", "--flag" },
		    "0 --flag 0 0 0 0.000 0/0/0.000 0 -" },
		{ { "-ox" }, "0 x 0 0 0 0.000 0/0/0.000 0 -" },
		{ { "-o", "x" }, "0 x 0 0 0 0.000 0/0/0.000 0 -" },
		{ { "-o", "-" }, "0 - 0 0 0 0.000 0/0/0.000 0 -" },
		{ { "-n9" }, "0 - 9 0 0 0.000 0/0/0.000 0 -" },
		{ { "--size=1K", "--wait", "1us" },
		    "0 - 0 1024 1000 0.000 0/0/0.000 0 -" },
		{ { "--share=30%", "--cache=4K" },
		    "0 - 0 0 0 0.300 0/4096/0.000 0 -" },
		{ { "--cache", "30%" }, "0 - 0 0 0 0.000 1/0/0.300 0 -" },
		{ { "--order=listed", "--last=z" },
		    "0 - 0 0 0 0.000 0/0/0.000 1 z" },
		{ { "a", "-f", "b" },
		    "1 - 0 0 0 0.000 0/0/0.000 0 - [a] [b]" },
		{ { "-", "" }, "0 - 0 0 0 0.000 0/0/0.000 0 - [-] []" },
		{ { "--", "-f", "--", "--help" },
		    "0 - 0 0 0 0.000 0/0/0.000 0 - [-f] [--] [--help]" },
		{ { "--output", "--", "--", "x" },
		    "0 -- 0 0 0 0.000 0/0/0.000 0 - [x]" },
		{ { "--data=a", "x", "--data", "b", "-da" },
		    "0 - 0 0 0 0.000 0/0/0.000 0 - +a +b +a [x]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ds_err err = { .text = "" };
		char out[256];

		if (parse(cases[i].words, &err) != ARGS_RUN)
			fail_msg("%zu: %s", i, err.text);
		assert_string_equal(show(out, sizeof out), cases[i].want);
	}
}

/* destall run [OPTION]... [--] CMD [ARG]... */
static void
command_ends_the_options(void **state)
{
	static const struct line cases[] = {
		{ { "-f", "cmd", "-f", "--data=a", "--help" },
		    "1 - 0 0 0 0.000 0/0/0.000 0 - "
		    "[cmd] [-f] [--data=a] [--help]" },
		{ { "--data", "a", "-db", "cmd", "--", "x" },
		    "0 - 0 0 0 0.000 0/0/0.000 0 - +a +b [cmd] [--] [x]" },
		{ { "--data=a", "--", "--wrong", "--", "-f" },
		    "0 - 0 0 0 0.000 0/0/0.000 0 - +a [--wrong] [--] [-f]" },
		{ { "-", "--wrong" },
		    "0 - 0 0 0 0.000 0/0/0.000 0 - [-] [--wrong]" },
	};
	static const char *const help[] = { "-f", "--help", "cmd", NULL };
	struct ds_err err = { .text = "" };
	char out[256];

	(void)state;
	command_follows = true;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		if (parse(cases[i].words, &err) != ARGS_RUN)
			fail_msg("%zu: %s", i, err.text);
		assert_string_equal(show(out, sizeof out), cases[i].want);
	}
	assert_int_equal(parse(help, &err), ARGS_HELP);
	command_follows = false;
}

static void
lists_have_an_end(void **state)
{
	char word[] = "--data=x", *argv[ARG_LIST_MAX + 2];
	struct args a = { .options = &opts, .operands = operands };
	struct ds_err err = { .text = "" };
	int argc = (int)ARG_LIST_MAX + 1;

	(void)state;
	for (unsigned i = 0; i < ARG_LIST_MAX + 2; i++)
		argv[i] = word;
	opts = (struct options){ .output = "-" };
	assert_int_equal(args_parse(table, argc, argv, &a, &err), ARGS_RUN);
	assert_int_equal(opts.data.nr, ARG_LIST_MAX);
	opts = (struct options){ .output = "-" };
	assert_int_equal(args_parse(table, argc + 1, argv, &a, &err), -E2BIG);
	assert_string_equal(err.text, "--data: more than 16 of them");
	assert_int_equal(opts.data.nr, ARG_LIST_MAX);
}

static void
wrong_lines(void **state)
{
	static const struct line cases[] = {
		{ { "--cuont=3" },
		    "unknown option --cuont: did you mean --count?" },
		{ { "--counts" },
		    "unknown option --counts: did you mean --count?" },
		{ { "--hepl" }, "unknown option --hepl: did you mean --help?" },
		{ { "--vers" },
		    "unknown option --vers: did you mean --version?" },
		{ { "--help=all" }, "--help takes no value" },
		{ { "--version=1" }, "--version takes no value" },
		{ { "--zebra=1" }, "unknown option --zebra" },
		{ { "--=x" }, "unknown option --" },
		{ { "---flag" }, "unknown option ---flag: did you mean --flag?" },
		{ { "-x" }, "unknown option -x" },
		{ { "-3%" }, "unknown option -3%" },
		{ { "-hx" }, "unknown option -hx" },
		{ { "-f", "--flag" }, "--flag was given twice" },
		{ { "-oa", "--output=b" }, "--output was given twice" },
		{ { "--output" }, "--output needs a value: FILE" },
		{ { "-o" }, "--output needs a value: FILE" },
		{ { "--flag=1" }, "--flag takes no value" },
		{ { "-f1" }, "--flag takes no value" },
		{ { "--count=0" },
		    "--count: '0' is out of range: from 1 to 9" },
		{ { "--count=" }, "--count: '' is not a whole number" },
		{ { "--size=10GBB" }, "--size: '10GBB' is not a size: write "
		    "512M, 1.5G or 8GiB" },
		{ { "--size=1e30" }, "--size: '1e30' is not a size: write "
		    "512M, 1.5G or 8GiB" },
		{ { "--wait=5" }, "--wait: '5' is not a duration: write "
		    "250ms, 60s or 2m" },
		{ { "--share", "-3%" }, "--share: '-3%' is not a percentage: "
		    "write 30% or 2.5%" },
		{ { "--cache=0%" },
		    "--cache: '0%' is nothing: write more than 0%" },
		{ { "--order=lsited" },
		    "--order: 'lsited' is not known: did you mean 'listed'?" },
		{ { "--order=zebra" },
		    "--order: 'zebra' is not known: it can be random, listed" },
		{ { "--last=zz" }, "--last: 'zz' is no letter" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ds_err err = { .text = "" };
		int rc = parse(cases[i].words, &err);

		assert_true(rc == -EINVAL || rc == -ERANGE);
		assert_int_equal(err.code, rc);
		assert_string_equal(err.text, cases[i].want);
		assert_int_equal(parse(cases[i].words, NULL), rc);
	}
}

static void
long_words_are_cut(void **state)
{
	static char words[4][2000];
	static const char *const begins[] = {
		"--", "-x", "--order=", "--size=",
	};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const char *line[] = { words[i], NULL };
		struct ds_err err;

		memset(words[i], 'q', sizeof words[i] - 1);
		memcpy(words[i], begins[i], strlen(begins[i]));
		assert_int_equal(parse(line, &err), -EINVAL);
		assert_true(strlen(err.text) < 200);
	}
}

static void
help_and_version_come_first(void **state)
{
	static const struct {
		const char *words[MAX_WORDS];
		int want;
	} cases[] = {
		{ { "--help" }, ARGS_HELP },
		{ { "-h" }, ARGS_HELP },
		{ { "a", "-f", "--help", "--wrong" }, ARGS_HELP },
		{ { "--version" }, ARGS_VERSION },
		{ { "--output", "--help" }, ARGS_RUN },
		{ { "--", "--version" }, ARGS_RUN },
		{ { "--wrong", "--help" }, -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(parse(cases[i].words, NULL), cases[i].want);
}

/* As many options as a table may have: the last is as good as the first. */
static void
sixty_four_options(void **state)
{
	static struct arg_option many[65];
	static char names[64][8];
	bool flags[64] = { false };
	char *operand[3];
	struct args a = { .options = flags, .operands = operand };
	char *twice[] = { names[0], names[0] + 1, NULL, NULL };
	char word[16];
	struct ds_err err;

	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		(void)snprintf(names[i], sizeof names[i], "o%u", i);
		many[i] = (struct arg_option){ .name = names[i],
		    .kind = ARG_FLAG, .offset = i * sizeof flags[0],
		    .help = "" };
	}
	(void)snprintf(word, sizeof word, "--o63");
	twice[1] = twice[2] = word;
	assert_int_equal(args_parse(many, 2, twice, &a, &err), ARGS_RUN);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(flags[i], i == 63);
	assert_int_equal(args_parse(many, 3, twice, &a, &err), -EINVAL);
	assert_string_equal(err.text, "--o63 was given twice");
	(void)snprintf(word, sizeof word, "--zzzzzz");
	assert_int_equal(args_parse(many, 2, twice, &a, &err), -EINVAL);
}

/* What has no command line sets options one by one. */
static void
one_by_one(void **state)
{
	struct options {
		bool flag;
		uint64_t count;
	} o = { false, 7 };
	static const struct arg_option few[] = {
		{ .name = "flag", .kind = ARG_FLAG,
		  .offset = offsetof(struct options, flag) },
		{ .name = "count", .kind = ARG_COUNT, .value = "N", .max = 9,
		  .offset = offsetof(struct options, count) },
		{ .name = NULL },
	};
	struct ds_err err;

	(void)state;
	assert_int_equal(args_set(few, &o, "flag", "yes", &err), 0);
	assert_true(o.flag);
	assert_int_equal(args_set(few, &o, "flag", "no", &err), 0);
	assert_false(o.flag);
	assert_int_equal(args_set(few, &o, "flag", "", &err), -EINVAL);
	assert_string_equal(err.text, "flag: '' is neither yes nor no");
	assert_int_equal(args_set(few, &o, "count", "9", &err), 0);
	assert_int_equal(args_set(few, &o, "count", "10", &err), -ERANGE);
	assert_int_equal(o.count, 9);
	assert_int_equal(args_set(few, &o, "coumt", "9", &err), -ENOENT);
	assert_string_equal(err.text,
	    "there is no option 'coumt': did you mean 'count'?");
	assert_int_equal(args_set(few, &o, "", "9", NULL), -ENOENT);
}

UNIT_MAIN(
	UNIT(good_lines),
	UNIT(command_ends_the_options),
	UNIT(lists_have_an_end),
	UNIT(wrong_lines),
	UNIT(long_words_are_cut),
	UNIT(help_and_version_come_first),
	UNIT(sixty_four_options),
	UNIT(one_by_one))
