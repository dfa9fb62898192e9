/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_ledger.c: `destall ledger check`: do ledgers prove exactly-once?
 * Runs in the command only.
 */

#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/command.h"
#include "base/json.h"
#include "base/say.h"
#include "base/text.h"
#include "loader/ledger_check.h"

extern const struct command cmd_ledger;

struct ledger_options {
	struct ledger_rules rules;
	bool		json;
	const char	*output;
};

static const struct ledger_options defaults = { .json = false };

#define FIELD(member)	offsetof(struct ledger_options, member)

static const struct arg_option options[] = {
	{ .name = "complete", .kind = ARG_FLAG, .offset = FIELD(rules.complete),
	  .help = "the last epoch must be whole, too" },
	{ .name = "resumed", .kind = ARG_FLAG, .offset = FIELD(rules.resumed),
	  .help = "a file may begin in the middle of an epoch, as that of a "
	  "job that resumed and began a new ledger" },
	{ .name = "repeats", .kind = ARG_FLAG, .offset = FIELD(rules.repeats),
	  .help = "an epoch may have a sample more than once, and others than "
	  "another epoch" },
	{ .name = "json", .kind = ARG_FLAG, .offset = FIELD(json),
	  .help = "write one JSON document instead of text" },
	{ .name = "output", .letter = 'o', .kind = ARG_TEXT,
	  .offset = FIELD(output), .value = "FILE",
	  .help = "--json: write it to FILE instead of standard output" },
	{ .name = NULL },
};

static const char *const words[] = { "check", NULL };

/*--- text ----------------------------------------------------------------*/

static const char *
plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* A proof over nothing is none: the first file without lines, and how many
 * others there are. */
static void
print_empty(const struct ledger_findings *f)
{
	const char *first = NULL;
	char name[PATH_MAX];
	size_t nr = 0;

	for (size_t i = 0; i < f->nr_files; i++) {
		if (f->files[i].samples > 0)
			continue;
		if (nr++ == 0)
			first = f->files[i].path;
	}
	if (nr == 0)
		return;
	text_clean(name, sizeof name, first);
	printf("%s%s", f->samples > 0 ? "; " : "", name);
	if (nr > 1)
		printf(" and %zu more", nr - 1);
	printf(" ha%s no samples yet", nr > 1 ? "ve" : "s");
}

static void
print_findings(const struct ledger_findings *f)
{
	char files[TEXT_FIGURE], epochs[TEXT_FIGURE], samples[TEXT_FIGURE];
	char skipped[TEXT_FIGURE];

	printf("%s file%s, %s epoch%s, %s sample%s, %s skipped: ",
	    text_count(files, f->nr_files), plural(f->nr_files),
	    text_count(epochs, f->epochs), plural(f->epochs),
	    text_count(samples, f->samples), plural(f->samples),
	    text_count(skipped, f->skipped));
	if (f->samples > 0)
		fputs("nothing is missing, nothing came twice", stdout);
	print_empty(f);
	putchar('\n');
}

/* What is no violation, but the reader should know of. */
static void
say_notes(const struct ledger_findings *f)
{
	for (size_t i = 0; i < f->nr_files; i++) {
		const struct ledger_file *file = &f->files[i];

		if (file->torn)
			say("ledger check: %s: the last line has no end, and "
			    "was left out: its job was killed while it wrote",
			    file->path);
		if (file->cut)
			say("ledger check: %s: the last epoch is cut",
			    file->path);
	}
}

/*--- JSON ----------------------------------------------------------------*/

static json_t *
json_file(const struct ledger_file *file)
{
	json_t *o = json_object();

	json_put(o, "path", json_text(file->path));
	json_put_count(o, "epochs", file->epochs);
	json_put_count(o, "samples", file->samples);
	json_put_count(o, "skipped", file->skipped);
	json_put(o, "cut", json_boolean(file->cut));
	json_put(o, "torn", json_boolean(file->torn));
	return o;
}

static json_t *
json_violation(const struct ledger_findings *f, const struct ds_err *err)
{
	json_t *o;

	if (f->bad_file == NULL)
		return json_null();
	o = json_object();
	json_put(o, "file", json_text(f->bad_file));
	json_put_count(o, "line", f->bad_line);
	json_put(o, "text", json_text(err->text));
	return o;
}

static int
write_json(const struct ledger_findings *f, const struct ds_err *violation,
    const char *path, struct ds_err *err)
{
	json_t *doc = json_doc_new(), *files = json_array();

	json_put(doc, "files", files);
	for (size_t i = 0; i < f->nr_files; i++) {
		if (json_array_append_new(files, json_file(&f->files[i])) != 0)
			say_no_memory();
	}
	json_put_count(doc, "epochs", f->epochs);
	json_put_count(doc, "samples", f->samples);
	json_put_count(doc, "skipped", f->skipped);
	json_put(doc, "samples_per_epoch", f->per_epoch > 0 ?
	    json_integer((json_int_t)f->per_epoch) : json_null());
	json_put(doc, "violation", json_violation(f, violation));
	return json_doc_write(doc, path, err);
}

/*--- the command ---------------------------------------------------------*/

static int
run_check(const struct ledger_options *o, char **paths, size_t nr)
{
	struct ledger_findings f;
	struct ds_err err = { .text = "" }, json_err;
	int rc = ledger_check(&f, paths, nr, &o->rules, &err), json_rc = 0;

	if (o->json && (rc == 0 || rc == -EBADMSG))
		json_rc = write_json(&f, &err, o->output, &json_err);
	else if (rc == 0)
		print_findings(&f);
	if (rc < 0)
		say("ledger check: %s", err.text);
	else if (json_rc == 0)
		say_notes(&f);
	if (json_rc < 0)
		(void)say_failure(&json_err, STATUS_FAILED);
	ledger_findings_fini(&f);
	return rc < 0 || json_rc < 0 ? STATUS_FAILED : STATUS_OK;
}

static const char *
find_fault(const struct ledger_options *o, int nr)
{
	if (nr < 2)
		return "name the ledgers to check";
	if (o->output != NULL && !o->json)
		return "-o is for --json";
	return NULL;
}

static int
run(const void *opts, int nr, char **operands)
{
	const char *fault = find_fault(opts, nr);

	if (strcmp(operands[0], words[0]) != 0) {
		say("ledger: unknown word '%s': only 'destall ledger check "
		    "FILE...' is known", operands[0]);
		return STATUS_USAGE;
	}
	if (fault != NULL) {
		say("ledger check: %s (see 'destall ledger --help')", fault);
		return STATUS_USAGE;
	}
	return run_check(opts, operands + 1, (size_t)nr - 1);
}

const struct command cmd_ledger = {
	.name = "ledger",
	.summary = "prove that jobs were given every sample once",
	.operands = "check FILE...",
	.about = "check reads ledgers, in which jobs wrote down every sample "
	    "that they were given, and looks for samples that are missing, "
	    "came twice, or are not the same in all files. The files are of "
	    "jobs of one stream. It ends with status 0, or with 1 and the "
	    "first violation.",
	.min_operands = 1,
	.max_operands = INT_MAX,
	.operand_words = words,
	.options = options,
	.defaults = &defaults,
	.options_size = sizeof defaults,
	.run = run,
};
