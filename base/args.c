/* SPDX-License-Identifier: Apache-2.0
 *
 * args.c: options as a table.  Runs in every process.
 */

#include <config.h>

#include "base/args.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "base/parse.h"
#include "base/text.h"

#define MAX_OPTIONS	64	/* of one command: they are bits of a word */
#define NAME_MAX_LEN	64	/* of a wrong option that we repeat */

/* One walk over the arguments. */
struct walk {
	const struct arg_option	*table;
	char			**argv;
	int			argc;
	int			at;
	uint64_t		seen;	/* bit i: table[i] was given */
};

/* What the rest of this file relies on. */
static void
check_table(const struct arg_option *table)
{
	int nr = 0;

	for (; table->name != NULL; table++, nr++) {
		must(nr < MAX_OPTIONS);
		must(table->kind == ARG_FLAG || table->value != NULL);
		must(table->kind != ARG_CHOICE || table->choices != NULL);
		must(table->kind != ARG_PARSED || table->parse != NULL);
	}
}

static const struct arg_option *
find_by_name(const struct arg_option *table, const char *name, size_t len)
{
	for (; table->name != NULL; table++) {
		if (strlen(table->name) == len &&
		    memcmp(table->name, name, len) == 0)
			return table;
	}
	return NULL;
}

static const struct arg_option *
find_by_letter(const struct arg_option *table, char letter)
{
	for (; table->name != NULL; table++) {
		if (table->letter == letter)
			return table;
	}
	return NULL;
}

static int
refuse_unknown(const struct arg_option *table, const char *word,
    struct ds_err *err)
{
	const char *known[MAX_OPTIONS + 3];
	char name[NAME_MAX_LEN + 1];
	const char *near;
	size_t nr = 0;

	for (; table->name != NULL; table++)
		known[nr++] = table->name;
	known[nr++] = "help";
	known[nr++] = "version";
	known[nr] = NULL;
	if (word[1] != '-')
		return err_fail(err, -EINVAL, "unknown option -%.*s",
		    NAME_MAX_LEN, word + 1);
	(void)snprintf(name, sizeof name, "%.*s",
	    (int)strcspn(word + 2, "="), word + 2);
	near = text_nearest(name, known);
	if (near == NULL)
		return err_fail(err, -EINVAL, "unknown option --%s", name);
	if (strcmp(near, name) == 0)	/* --help=WHAT */
		return err_fail(err, -EINVAL, "--%s takes no value", name);
	return err_fail(err, -EINVAL, "unknown option --%s: did you mean --%s?",
	    name, near);
}

static int
parse_choice(const struct arg_option *o, const char *text, unsigned *out,
    struct ds_err *err)
{
	const char *near;
	size_t used;

	for (unsigned i = 0; o->choices[i] != NULL; i++) {
		if (strcmp(o->choices[i], text) == 0) {
			*out = i;
			return 0;
		}
	}
	near = text_nearest(text, o->choices);
	if (near != NULL)
		return err_fail(err, -EINVAL, "'%.*s' is not known: did you "
		    "mean '%s'?", NAME_MAX_LEN, text, near);
	err_fail(err, -EINVAL, "'%.*s' is not known: it can be", NAME_MAX_LEN,
	    text);
	for (unsigned i = 0; o->choices[i] != NULL; i++) {
		used = strlen(err->text);
		(void)snprintf(err->text + used, sizeof err->text - used,
		    "%s %s", i > 0 ? "," : "", o->choices[i]);
	}
	return -EINVAL;
}

static int
add_text(struct arg_list *list, const char *text, struct ds_err *err)
{
	if (list->nr == ARG_LIST_MAX)
		return err_fail(err, -E2BIG, "more than %u of them",
		    ARG_LIST_MAX);
	list->text[list->nr++] = text;
	return 0;
}

static int
store_value(const struct arg_option *o, const char *text, void *field,
    struct ds_err *err)
{
	switch (o->kind) {
	case ARG_FLAG:
		*(bool *)field = true;
		return 0;
	case ARG_TEXT:
		*(const char **)field = text;
		return 0;
	case ARG_LIST:
		return add_text(field, text, err);
	case ARG_COUNT:
		return parse_count(text, o->min, o->max, field, err);
	case ARG_SIZE:
		return parse_size(text, field, err);
	case ARG_DURATION:
		return parse_duration(text, field, err);
	case ARG_SHARE:
		return parse_share(text, field, err);
	case ARG_BUDGET:
		return parse_budget(text, field, err);
	case ARG_CHOICE:
		return parse_choice(o, text, field, err);
	case ARG_PARSED:
		return o->parse(text, field, err);
	}
	must_fail(__FILE__, __LINE__, "the kind of an option");
}

/* value is what stood after "=" or the letter, or NULL. */
static int
take_option(struct walk *w, const struct arg_option *o, const char *value,
    void *options, struct ds_err *err)
{
	uint64_t bit = UINT64_C(1) << (o - w->table);
	struct ds_err why = { 0 };
	int rc;

	if ((w->seen & bit) != 0 && o->kind != ARG_LIST)
		return err_fail(err, -EINVAL, "--%s was given twice", o->name);
	w->seen |= bit;
	if (o->kind == ARG_FLAG && value != NULL)
		return err_fail(err, -EINVAL, "--%s takes no value", o->name);
	if (o->kind != ARG_FLAG && value == NULL) {
		if (w->at + 1 >= w->argc)
			return err_fail(err, -EINVAL, "--%s needs a value: %s",
			    o->name, o->value);
		value = w->argv[++w->at];
	}
	rc = store_value(o, value, (char *)options + o->offset, &why);
	if (rc < 0)
		return err_fail(err, rc, "--%s: %s", o->name, why.text);
	return 0;
}

static int
take_long(struct walk *w, const char *word, void *options, struct ds_err *err)
{
	const char *name = word + 2;
	size_t len = strcspn(name, "=");
	const struct arg_option *o = find_by_name(w->table, name, len);

	if (o == NULL)
		return refuse_unknown(w->table, word, err);
	return take_option(w, o, name[len] == '=' ? name + len + 1 : NULL,
	    options, err);
}

static int
take_short(struct walk *w, const char *word, void *options, struct ds_err *err)
{
	const struct arg_option *o = find_by_letter(w->table, word[1]);

	if (o == NULL)
		return refuse_unknown(w->table, word, err);
	return take_option(w, o, word[2] != '\0' ? word + 2 : NULL, options,
	    err);
}

int
args_parse(const struct arg_option *table, int argc, char **argv,
    struct args *out, struct ds_err *err)
{
	struct walk w = { .table = table, .argv = argv, .argc = argc };
	bool only_operands = false;
	int rc;

	check_table(table);
	out->nr_operands = 0;
	for (w.at = 1; w.at < argc; w.at++) {
		char *word = argv[w.at];

		if (only_operands || word[0] != '-' || word[1] == '\0') {
			out->operands[out->nr_operands++] = word;
			only_operands |= out->command_follows;
			continue;
		}
		if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
			return ARGS_HELP;
		if (strcmp(word, "--version") == 0)
			return ARGS_VERSION;
		if (strcmp(word, "--") == 0) {
			only_operands = true;
			continue;
		}
		rc = word[1] == '-' ? take_long(&w, word, out->options, err) :
		    take_short(&w, word, out->options, err);
		if (rc < 0)
			return rc;
	}
	return ARGS_RUN;
}

/*--- one by one ----------------------------------------------------------*/

static int
fail_name(const struct arg_option *table, const char *name,
    struct ds_err *err)
{
	const char *known[MAX_OPTIONS + 1];
	const char *near;
	size_t nr = 0;

	for (; table->name != NULL; table++)
		known[nr++] = table->name;
	known[nr] = NULL;
	near = text_nearest(name, known);
	if (near == NULL)
		return err_fail(err, -ENOENT, "there is no option '%.*s'",
		    NAME_MAX_LEN, name);
	return err_fail(err, -ENOENT, "there is no option '%.*s': did you "
	    "mean '%s'?", NAME_MAX_LEN, name, near);
}

static int
set_flag(const char *value, bool *field, struct ds_err *err)
{
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return err_fail(err, -EINVAL, "'%.*s' is neither yes nor no",
		    NAME_MAX_LEN, value);
	*field = value[0] == 'y';
	return 0;
}

int
args_set(const struct arg_option *table, void *options, const char *name,
    const char *value, struct ds_err *err)
{
	const struct arg_option *o = find_by_name(table, name, strlen(name));
	struct ds_err why = { 0 };
	void *field;
	int rc;

	check_table(table);
	if (o == NULL)
		return fail_name(table, name, err);
	field = (char *)options + o->offset;
	rc = o->kind == ARG_FLAG ? set_flag(value, field, &why) :
	    store_value(o, value, field, &why);
	return rc < 0 ? err_fail(err, rc, "%s: %s", name, why.text) : 0;
}
