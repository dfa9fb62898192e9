/* SPDX-License-Identifier: Apache-2.0
 *
 * mkman.c: fills a man page from the table of commands.  Runs at build time.
 *
 *     mkman destall-gen < destall-gen.1.in > destall-gen.1
 *
 * A line of the template that reads @HEAD@, @SYNOPSIS@, @OPTIONS@,
 * @COMMANDS@ or @LOADER@ (the options of the loader, by name) is replaced;
 * every other line is copied.
 */

#include <config.h>

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "destall.h"
#include "tool/commands.h"

/* A hyphen in running text is a minus in what the user types. */
static void
put_roff(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '-')
			fputs("\\-", stdout);
		else if (*text == '\\')
			fputs("\\e", stdout);
		else
			putchar(*text);
	}
}

static void
put_head(const char *page)
{
	printf(".TH ");
	for (const char *p = page; *p != '\0'; p++)
		putchar(toupper((unsigned char)*p));
	printf(" 1 \"\" \"destall %s\" \"User Commands\"\n", PACKAGE_VERSION);
}

static void
put_synopsis(const struct command *c)
{
	printf(".SH SYNOPSIS\n.B destall %s\n", c->name);
	printf(".RI [ OPTION ]...\n");
	if (c->runs_command)
		puts(".RB [ \\-\\- ]");
	if (*c->operands != '\0') {
		fputs(".I ", stdout);
		put_roff(c->operands);
		putchar('\n');
	}
}

static void
put_option(const struct arg_option *o)
{
	fputs(".TP\n\\fB", stdout);
	if (o->letter != 0)
		printf("\\-%c\\fR, \\fB", o->letter);
	fputs("\\-\\-", stdout);
	put_roff(o->name);
	fputs("\\fR", stdout);
	if (o->value != NULL) {
		fputs("=\\fI", stdout);
		put_roff(o->value);
		fputs(o->kind == ARG_LIST ? "\\fR..." : "\\fR", stdout);
	}
	putchar('\n');
	put_roff(o->help);
	putchar('\n');
}

static void
put_options(const struct command *c)
{
	puts(".SH OPTIONS");
	for (const struct arg_option *o = c->options; o->name != NULL; o++)
		put_option(o);
	puts(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow the help");
	puts(".TP\n\\fB\\-\\-version\\fR\nshow the version");
}

static void
put_commands(void)
{
	puts(".SH COMMANDS");
	for (unsigned i = 0; commands[i] != NULL; i++) {
		fputs(".TP\n\\fBdestall\\-", stdout);
		put_roff(commands[i]->name);
		puts("\\fR(1)");
		put_roff(commands[i]->summary);
		putchar('\n');
	}
}

static void
put_loader(void)
{
	for (const struct ds_option *o = ds_loader_options(); o->name != NULL;
	    o++) {
		fputs(".TP\n\\fB", stdout);
		put_roff(o->name);
		fputs("\\fR", stdout);
		if (o->value[0] != '\0') {
			fputs("=\\fI", stdout);
			put_roff(o->value);
			fputs("\\fR", stdout);
		}
		putchar('\n');
		put_roff(o->help);
		putchar('\n');
	}
}

static void
put_line(const char *line, const char *page, const struct command *c)
{
	if (strcmp(line, "@HEAD@\n") == 0)
		put_head(page);
	else if (strcmp(line, "@COMMANDS@\n") == 0)
		put_commands();
	else if (strcmp(line, "@LOADER@\n") == 0)
		put_loader();
	else if (c != NULL && strcmp(line, "@SYNOPSIS@\n") == 0)
		put_synopsis(c);
	else if (c != NULL && strcmp(line, "@OPTIONS@\n") == 0)
		put_options(c);
	else
		fputs(line, stdout);
}

int
main(int argc, char **argv)
{
	const struct command *c = NULL;
	const char *dash;
	char *line = NULL;
	size_t size = 0;

	if (argc != 2) {
		fputs("usage: mkman PAGE < TEMPLATE\n", stderr);
		return STATUS_USAGE;
	}
	dash = strchr(argv[1], '-');
	if (dash != NULL) {
		c = commands_find(dash + 1);
		if (c == NULL)
			return commands_unknown(dash + 1);
	}
	while (getline(&line, &size, stdin) > 0)
		put_line(line, argv[1], c);
	free(line);
	return fflush(stdout) == 0 ? STATUS_OK : STATUS_FAILED;
}
