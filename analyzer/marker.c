/* SPDX-License-Identifier: Apache-2.0
 *
 * marker.c: how far a program has come that tells nothing by itself.
 * Runs in the command only.
 */

#include <config.h>

#include "analyzer/marker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/interval.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/list.h"

#define CHUNK		65536u
#define SAMPLES_MOST	(UINT64_C(1) << 30)	/* of a step */
#define STEPS_MOST	(1u << 24)
#define WINDOWS		10u	/* that a rate is taken from */
#define START_PARTS	5u	/* one of them is the start */

int
marker_parse(const char *text, void *choice, struct ds_err *err)
{
	struct marker_choice *c = choice;

	if (strcmp(text, "stdout") == 0)
		*c = (struct marker_choice){ MARKER_LINES, "" };
	else if (strncmp(text, "stdout:", 7) == 0 && text[7] != '\0')
		*c = (struct marker_choice){ MARKER_LINES, text + 7 };
	else if (strncmp(text, "file:", 5) == 0 && text[5] != '\0')
		*c = (struct marker_choice){ MARKER_FILE, text + 5 };
	else
		return err_fail(err, -EINVAL, "'%s' is no marker: write stdout, "
		    "stdout:TEXT or file:PATH", text);
	return 0;
}

/*--- its life ------------------------------------------------------------*/

/* A file that is there already has only what is added to it. */
static off_t
find_end(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : 0;
}

int
marker_open(struct marker *m, const struct marker_choice *choice,
    struct ds_err *err)
{
	int ends[2];

	*m = (struct marker){ .choice = *choice, .from = -1, .to = -1,
	    .opened_ns = clock_now_ns() };
	if (choice->kind == MARKER_FILE)
		m->at = find_end(choice->text);
	if (choice->kind != MARKER_LINES)
		return 0;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_errno(err, "cannot make a pipe");
	m->from = ends[0];
	m->to = ends[1];
	(void)fcntl(m->from, F_SETFL, O_NONBLOCK);
	return 0;
}

void
marker_close(struct marker *m)
{
	io_close(&m->to);
	if (m->choice.kind != MARKER_NONE)
		marker_look(m);
	io_close(&m->from);
	free(m->steps);
	m->steps = NULL;
	m->nr = 0;
}

/*--- lines ---------------------------------------------------------------*/

static void
add_step(struct marker *m, uint64_t at_ns)
{
	if (m->nr == STEPS_MOST)
		return;
	m->steps = list_grow(m->steps, m->nr, sizeof *m->steps);
	m->steps[m->nr++] = at_ns;
}

static void
end_line(struct marker *m)
{
	m->line[m->len] = '\0';
	m->len = 0;
	if (m->choice.kind == MARKER_FILE ||
	    strstr(m->line, m->choice.text) != NULL)
		add_step(m, clock_now_ns());
}

/* Of a line that is too long, its beginning. */
static void
take(struct marker *m, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '\n')
			end_line(m);
		else if (m->len + 1 < sizeof m->line)
			m->line[m->len++] = bytes[i];
	}
}

static void
look_at_pipe(struct marker *m)
{
	char bytes[CHUNK];
	ssize_t got;

	while ((got = read(m->from, bytes, sizeof bytes)) > 0) {
		(void)io_write_all(STDOUT_FILENO, bytes, (size_t)got);
		take(m, bytes, (size_t)got);
	}
}

static void
look_at_file(struct marker *m)
{
	char bytes[CHUNK];
	struct stat st;
	ssize_t got;
	int fd;

	fd = open(m->choice.text, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	/* A program that begins its log anew. */
	if (fstat(fd, &st) == 0 && st.st_size < m->at) {
		m->at = 0;
		m->len = 0;
	}
	while ((got = pread(fd, bytes, sizeof bytes, m->at)) > 0) {
		m->at += got;
		take(m, bytes, (size_t)got);
	}
	io_close(&fd);
}

void
marker_look(struct marker *m)
{
	if (m->from >= 0)
		look_at_pipe(m);
	else if (m->choice.kind == MARKER_FILE)
		look_at_file(m);
}

/*--- steps that are told -------------------------------------------------*/

void
marker_note(struct marker *m, uint64_t at_ns, uint64_t samples)
{
	uint64_t now_ns = clock_now_ns();

	if (m->choice.kind != MARKER_NONE || samples > SAMPLES_MOST ||
	    m->nr == STEPS_MOST)
		return;
	if (at_ns > now_ns || at_ns < m->opened_ns ||
	    (m->nr > 0 && at_ns < m->steps[m->nr - 1]))
		at_ns = now_ns;
	add_step(m, at_ns);
	m->samples += (double)samples;
}

double
marker_step_samples(const struct marker *m, double otherwise)
{
	return m->samples > 0 ? m->samples / (double)m->nr : otherwise;
}

/*--- the rate ------------------------------------------------------------*/

/* The first step that counts. */
static size_t
find_start(const struct marker *m)
{
	uint64_t span = m->steps[m->nr - 1] - m->steps[0];
	size_t i = 0;

	while (m->steps[i] - m->steps[0] < span / START_PARTS)
		i++;
	return i;
}

struct figure
marker_rate(const struct marker *m, double samples)
{
	struct interval_block list[WINDOWS];
	size_t first, nr = 0, from, to;
	double s;

	if (m->nr < 3)
		return (struct figure){ 0 };
	first = find_start(m);
	for (unsigned i = 0; i < WINDOWS; i++) {
		from = first + (m->nr - 1 - first) * i / WINDOWS;
		to = first + (m->nr - 1 - first) * (i + 1) / WINDOWS;
		if (to == from)
			continue;
		s = 1e-9 * (double)(m->steps[to] - m->steps[from]);
		list[nr++] = (struct interval_block){
			.samples = (uint64_t)((double)(to - from) * samples),
			.time_s = s / ((double)(to - from) * samples),
			.cpu_s = -1,
		};
	}
	return interval_of_rate(list, nr);
}
