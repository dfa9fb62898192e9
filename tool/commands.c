/* SPDX-License-Identifier: Apache-2.0
 *
 * commands.c: the table of commands.  Runs in the command only.
 *
 * A new command is a file cmd_NAME.c in the folder it belongs to and two
 * lines here.
 */

#include <config.h>

#include "tool/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "base/say.h"
#include "base/text.h"

#define MAX_COMMANDS	32

extern const struct command cmd_doctor, cmd_demo, cmd_gen, cmd_run, cmd_env,
    cmd_profile, cmd_emulate, cmd_cache, cmd_top, cmd_ledger, cmd_report,
    cmd_runs, cmd_serve, cmd_completion, cmd_help;

const struct command *const commands[] = {
	&cmd_doctor,
	&cmd_demo,
	&cmd_profile,
	&cmd_report,
	&cmd_runs,
	&cmd_gen,
	&cmd_run,
	&cmd_env,
	&cmd_emulate,
	&cmd_cache,
	&cmd_top,
	&cmd_ledger,
	&cmd_serve,
	&cmd_completion,
	&cmd_help,
	NULL,
};

const struct command *
commands_find(const char *name)
{
	for (unsigned i = 0; commands[i] != NULL; i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	}
	return NULL;
}

int
commands_unknown(const char *name)
{
	const char *names[MAX_COMMANDS + 1];
	const char *near;
	unsigned nr;

	for (nr = 0; commands[nr] != NULL; nr++) {
		must(nr < MAX_COMMANDS);
		names[nr] = commands[nr]->name;
	}
	names[nr] = NULL;
	near = text_nearest(name, names);
	if (near != NULL)
		say("unknown command '%s': did you mean '%s'?", name, near);
	else
		say("unknown command '%s': see 'destall --help'", name);
	return STATUS_USAGE;
}

void
commands_help(const struct term *t)
{
	fputs("usage: destall COMMAND [OPTION]...\n\n"
	    "Finds out how long your accelerators wait for data, and why.\n\n",
	    t->out);
	for (unsigned i = 0; commands[i] != NULL; i++)
		fprintf(t->out, "  %s%-12s%s%s\n", term_on(t, TERM_BOLD),
		    commands[i]->name, term_off(t), commands[i]->summary);
	fputs("\n'destall COMMAND --help' tells more of each; "
	    "'man destall' of all.\n", t->out);
}
