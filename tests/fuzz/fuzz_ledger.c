/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_ledger.c: any bytes as one ledger or two.
 *
 * The low bits of the first byte are the rules; with its highest bit, the rest
 * is two files of equal length.  What is accepted is looked at again, in the
 * slow and simple way.
 */

#include <config.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "loader/ledger_check.h"
#include "loader/ledger_line.h"
#include "tests/fuzz/fuzz.h"

#define LINES_MAX	64u	/* of those that are looked at again */
#define PATH_SIZE	32u

const char fuzz_name[] = "ledger";

struct parsed {
	struct ledger_line lines[LINES_MAX];
	unsigned	nr;
	bool		all;	/* there are no more */
};

static int
file_of(const uint8_t *bytes, size_t len, char path[PATH_SIZE])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	must(fd >= 0 && io_write_all(fd, bytes, len) == 0);
	(void)snprintf(path, PATH_SIZE, "/proc/self/fd/%d", fd);
	return fd;
}

static void
parse(struct parsed *p, const uint8_t *bytes, size_t len)
{
	const char *text = (const char *)bytes, *end = text + len, *newline;

	p->nr = 0;
	p->all = true;
	while (text < end && (newline = memchr(text, '\n',
	    (size_t)(end - text))) != NULL) {
		if (p->nr == LINES_MAX) {
			p->all = false;
			return;
		}
		must(ledger_line_parse(&p->lines[p->nr++], text,
		    (size_t)(newline - text)) == NULL);
		text = newline + 1;
	}
}

static bool
is_same_sample(const struct ledger_line *a, const struct ledger_line *b)
{
	return a->sample_len == b->sample_len &&
	    memcmp(a->sample, b->sample, a->sample_len) == 0;
}

static bool
has_place(const struct parsed *p, uint64_t epoch, uint64_t position)
{
	for (unsigned i = 0; i < p->nr; i++) {
		if (p->lines[i].epoch == epoch &&
		    p->lines[i].position == position)
			return true;
	}
	return false;
}

/* Within a file. */
static void
check_lines(const struct parsed *p, const struct ledger_rules *rules)
{
	uint64_t last = p->nr > 0 ? p->lines[p->nr - 1].epoch : 0;

	for (unsigned i = 0; i < p->nr; i++) {
		const struct ledger_line *a = &p->lines[i];

		for (unsigned k = 0; k < i; k++) {
			const struct ledger_line *b = &p->lines[k];

			must(b->epoch <= a->epoch);
			must(b->epoch != a->epoch ||
			    b->position != a->position);
			must(rules->repeats || b->epoch != a->epoch ||
			    !is_same_sample(a, b));
		}
		must(i == 0 || a->epoch - p->lines[i - 1].epoch <= 1);
		if (p->all && (a->epoch < last || rules->complete) &&
		    !rules->resumed)
			must(a->position == 0 ||
			    has_place(p, a->epoch, a->position - 1));
	}
}

/* Between files. */
static void
check_pair(const struct parsed *p, const struct parsed *q)
{
	for (unsigned i = 0; i < p->nr; i++) {
		for (unsigned k = 0; k < q->nr; k++) {
			const struct ledger_line *a = &p->lines[i];
			const struct ledger_line *b = &q->lines[k];

			if (a->epoch == b->epoch && a->position == b->position)
				must(a->skipped == b->skipped &&
				    a->crc == b->crc);
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	char path[2][PATH_SIZE], *paths[] = { path[0], path[1] };
	struct ledger_findings found;
	struct ledger_rules rules;
	struct parsed p[2];
	struct ds_err err;
	size_t nr, size;
	int fd[2], rc;

	if (len == 0)
		return 0;
	rules = (struct ledger_rules){ .complete = (bytes[0] & 1) != 0,
	    .resumed = (bytes[0] & 2) != 0, .repeats = (bytes[0] & 4) != 0 };
	nr = (bytes[0] & 0x80) != 0 ? 2 : 1;
	size = (len - 1) / nr;
	for (size_t i = 0; i < nr; i++)
		fd[i] = file_of(bytes + 1 + i * size, size, path[i]);
	rc = ledger_check(&found, paths, nr, &rules, &err);
	if (rc < 0) {
		fuzz_check_error(&err, rc);
		must(rc == -EBADMSG && found.bad_file != NULL);
	}
	for (size_t i = 0; i < nr; i++) {
		if (rc == 0) {
			parse(&p[i], bytes + 1 + i * size, size);
			check_lines(&p[i], &rules);
		}
		close(fd[i]);
	}
	if (rc == 0 && nr == 2)
		check_pair(&p[0], &p[1]);
	ledger_findings_fini(&found);
	return 0;
}
