/* SPDX-License-Identifier: Apache-2.0
 *
 * command.c: from a command line to a command's run().  Runs in the command
 * only.
 */

#include <config.h>

#include "base/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"

#define HELP_COLUMN	24u

static void
print_option(const struct arg_option *o, const struct term *t)
{
	unsigned column;
	int n;

	n = fprintf(t->out, "  %c%c%c --%s%s%s%s", o->letter ? '-' : ' ',
	    o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name,
	    o->value ? "=" : "", o->value ? o->value : "",
	    o->kind == ARG_LIST ? "..." : "");
	column = n > 0 ? (unsigned)n : 0;
	if (column + 2 > HELP_COLUMN)
		fprintf(t->out, "\n%*s", (int)HELP_COLUMN, "");
	else
		fprintf(t->out, "%*s", (int)(HELP_COLUMN - column), "");
	term_wrap(t, HELP_COLUMN, HELP_COLUMN, o->help);
	fputc('\n', t->out);
}

void
command_help(const struct command *c, const struct term *t)
{
	static const struct arg_option common[] = {
		{ .name = "help", .letter = 'h', .help = "show this help" },
		{ .name = "version", .help = "show the version" },
	};

	fprintf(t->out, "usage: destall %s [OPTION]...%s%s%s\n\n", c->name,
	    c->runs_command ? " [--]" : "", *c->operands ? " " : "",
	    c->operands);
	term_wrap(t, 0, 0, c->about);
	fputs("\n\n", t->out);
	for (const struct arg_option *o = c->options; o->name != NULL; o++)
		print_option(o, t);
	print_option(&common[0], t);
	print_option(&common[1], t);
	fprintf(t->out, "\nMore: man destall-%s\n", c->name);
}

static int
refuse_line(const struct command *c, const struct ds_err *err)
{
	say("%s: %s (see 'destall %s --help')", c->name, err->text, c->name);
	return STATUS_USAGE;
}

static int
check_operands(const struct command *c, const struct args *a,
    struct ds_err *err)
{
	if (a->nr_operands < c->min_operands)
		return err_fail(err, -EINVAL, "%s is missing", c->operands);
	if (a->nr_operands > c->max_operands)
		return err_fail(err, -EINVAL, "too many operands: '%s'",
		    a->operands[c->max_operands]);
	return 0;
}

static int
run_parsed(const struct command *c, const struct args *a, int outcome)
{
	struct ds_err err;
	struct term t;

	switch (outcome) {
	case ARGS_HELP:
		term_init(&t, stdout);
		command_help(c, &t);
		return STATUS_OK;
	case ARGS_VERSION:
		printf("destall %s\n", PACKAGE_VERSION);
		return STATUS_OK;
	default:
		if (check_operands(c, a, &err) < 0)
			return refuse_line(c, &err);
		return c->run(a->options, a->nr_operands, a->operands);
	}
}

int
command_run(const struct command *c, int argc, char **argv)
{
	struct args a = { .command_follows = c->runs_command };
	struct ds_err err;
	int rc, status;

	a.options = malloc(c->options_size + 1);
	a.operands = calloc((size_t)argc + 1, sizeof *a.operands);
	if (a.options == NULL || a.operands == NULL)
		say_no_memory();
	if (c->options_size > 0)
		memcpy(a.options, c->defaults, c->options_size);
	rc = args_parse(c->options, argc, argv, &a, &err);
	status = rc < 0 ? refuse_line(c, &err) : run_parsed(c, &a, rc);
	free(a.operands);
	free(a.options);
	return status;
}
