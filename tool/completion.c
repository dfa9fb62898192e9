/* SPDX-License-Identifier: Apache-2.0
 *
 * completion.c: shell completions, made from the table of commands.
 * Runs in the command only, at build time and for `destall completion`.
 */

#include <config.h>

#include "tool/completion.h"

#include <stdbool.h>

#include "tool/commands.h"

static void
put_words(FILE *out, const char *const *words)
{
	for (unsigned i = 0; words[i] != NULL; i++)
		fprintf(out, "%s%s", i > 0 ? " " : "", words[i]);
}

static void
put_commands(FILE *out)
{
	for (unsigned i = 0; commands[i] != NULL; i++)
		fprintf(out, "%s%s", i > 0 ? " " : "", commands[i]->name);
}

/*--- bash ----------------------------------------------------------------*/

static void
bash_options(FILE *out, const struct command *c)
{
	for (const struct arg_option *o = c->options; o->name != NULL; o++)
		fprintf(out, "--%s%s ", o->name,
		    o->kind == ARG_FLAG ? "" : "=");
	fputs("--help --version", out);
}

/* Where another command follows: its name; what comes after it is none of
 * ours, and left to bash. */
static void
bash_command(FILE *out, const struct command *c)
{
	if (!c->runs_command)
		return;
	fprintf(out, "\t%s:%s:-*) ;;\n", c->name, c->name);
	fprintf(out, "\t%s:%s:* | %s:--:*)\n"
	    "\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
	    "\t\treturn ;;\n", c->name, c->name, c->name);
	fprintf(out, "\t%s:*) if [[ \" ${COMP_WORDS[*]:2:COMP_CWORD-2} \" == "
	    "*' -- '* ]]; then return; fi ;;\n", c->name);
}

/* What may follow "--option " or the command itself; anything else is a file,
 * which bash completes by default. */
static void
bash_values(FILE *out, const struct command *c)
{
	for (const struct arg_option *o = c->options; o->name != NULL; o++) {
		if (o->kind != ARG_CHOICE)
			continue;
		fprintf(out, "\t%s:--%s) words='", c->name, o->name);
		put_words(out, o->choices);
		fputs("' ;;\n", out);
	}
	if (c->operand_words == NULL && !c->operand_is_command)
		return;
	fprintf(out, "\t%s:%s) words='", c->name, c->name);
	if (c->operand_is_command)
		put_commands(out);
	else
		put_words(out, c->operand_words);
	fputs("' ;;\n", out);
}

void
completion_bash(FILE *out)
{
	fputs("# bash completion for destall, made by 'destall completion bash'\n"
	    "_destall()\n{\n"
	    "\tlocal cur prev words command=${COMP_WORDS[1]}\n"
	    "\tcur=${COMP_WORDS[COMP_CWORD]}\n"
	    "\tprev=${COMP_WORDS[COMP_CWORD-1]}\n"
	    "\tif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
	    "\tif [[ $cur == = ]]; then\n"
	    "\t\tprev=${COMP_WORDS[COMP_CWORD-1]} cur=\n"
	    "\tfi\n"
	    "\tcase $command:$prev:$cur in\n", out);
	for (unsigned i = 0; commands[i] != NULL; i++)
		bash_command(out, commands[i]);
	fputs("\tesac\n"
	    "\tif (( COMP_CWORD == 1 )); then\n"
	    "\t\twords='", out);
	put_commands(out);
	fputs(" --help --version'\n"
	    "\telse case $command:$prev in\n", out);
	for (unsigned i = 0; commands[i] != NULL; i++)
		bash_values(out, commands[i]);
	fputs("\t*) case $command in\n", out);
	for (unsigned i = 0; commands[i] != NULL; i++) {
		fprintf(out, "\t\t%s) words='", commands[i]->name);
		bash_options(out, commands[i]);
		fputs("' ;;\n", out);
	}
	fputs("\t\tesac\n"
	    "\t\tif [[ $cur != -* ]]; then words=; fi ;;\n"
	    "\tesac; fi\n"
	    "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	    "\tif [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then\n"
	    "\t\tcompopt -o nospace\n"
	    "\tfi\n"
	    "}\n"
	    "complete -o default -F _destall destall\n", out);
}

/*--- zsh -----------------------------------------------------------------*/

/* Within '...[...]' of _arguments: brackets, colons and quotes are special. */
static void
zsh_text(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '[' || *text == ']' || *text == ':' ||
		    *text == '\\')
			fputc('\\', out);
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	}
}

static void
zsh_option(FILE *out, const struct arg_option *o)
{
	fprintf(out, "\t\t\t'%s--%s%s[", o->kind == ARG_LIST ? "*" : "", o->name,
	    o->kind == ARG_FLAG ? "" : "=");
	zsh_text(out, o->help);
	fputc(']', out);
	if (o->kind == ARG_CHOICE) {
		fputc(':', out);
		zsh_text(out, o->value);
		fputs(":(", out);
		put_words(out, o->choices);
		fputc(')', out);
	} else if (o->kind != ARG_FLAG) {
		fputc(':', out);
		zsh_text(out, o->value);
		fputs(":_default", out);
	}
	fputs("' \\\n", out);
}

static void
zsh_operands(FILE *out, const struct command *c)
{
	if (c->max_operands == 0) {
		fputs("\t\t\t':'", out);
	} else if (c->runs_command) {
		fputs("\t\t\t'(-)1:command:_command_names -e' "
		    "'*::argument:_normal'", out);
	} else if (c->operand_is_command) {
		fputs("\t\t\t'1:command:_destall_commands'", out);
	} else if (c->operand_words != NULL) {
		fputs("\t\t\t'1:operand:(", out);
		put_words(out, c->operand_words);
		fputs(c->max_operands > 1 ? ")' '*:operand:_files'" : ")'",
		    out);
	} else {
		fputs("\t\t\t'*:operand:_files'", out);
	}
}

void
completion_zsh(FILE *out)
{
	fputs("#compdef destall\n"
	    "# zsh completion for destall, made by 'destall completion zsh'\n"
	    "_destall_commands() {\n"
	    "\tlocal -a list=(\n", out);
	for (unsigned i = 0; commands[i] != NULL; i++) {
		fprintf(out, "\t\t'%s:", commands[i]->name);
		zsh_text(out, commands[i]->summary);
		fputs("'\n", out);
	}
	fputs("\t)\n"
	    "\t_describe command list\n"
	    "}\n"
	    "_destall() {\n"
	    "\tif (( CURRENT == 2 )); then\n"
	    "\t\t_destall_commands\n"
	    "\t\treturn\n"
	    "\tfi\n"
	    "\tshift words; (( CURRENT-- ))\n"
	    "\tcase $words[1] in\n", out);
	for (unsigned i = 0; commands[i] != NULL; i++) {
		fprintf(out, "\t%s)\n\t\t_arguments \\\n", commands[i]->name);
		for (const struct arg_option *o = commands[i]->options;
		    o->name != NULL; o++)
			zsh_option(out, o);
		fputs("\t\t\t'--help[show help]' '--version[show the version]'"
		    " \\\n", out);
		zsh_operands(out, commands[i]);
		fputs(" ;;\n", out);
	}
	fputs("\tesac\n"
	    "}\n"
	    "_destall \"$@\"\n", out);
}
