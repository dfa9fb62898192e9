/* SPDX-License-Identifier: Apache-2.0
 *
 * job.c: what a training job does with its data, over the public interface:
 * reads it in shuffled epochs, and looks at every byte.  Run by tests.
 *
 *     job [OPTION=VALUE]... URI
 *
 *     epochs=1 seed=1      order, a new one for each epoch
 *     part=0/1             of each epoch's order, the positions p % n == i
 *     threads=1
 *     budget=35%           default: none
 *     hub=start            start, find (never starts one), none, or try:
 *                          start one, and do without if that fails
 *     check=1              0: the bytes are not looked at
 *     hold=0               items held at once before they are put
 *     evict=0              1: each file's pages are dropped from the page cache
 *                          before it is got, and the bytes that the block
 *                          layer then read are compared (one thread only)
 *     ready=PATH           a file that is made when the data set is open
 *     go=PATH              wait for this file after that
 *     pace=0               microseconds that each item is computed on
 *     at=N do=segv         before the Nth item: dies of a signal in code of
 *                          its own, or
 *     at=N do=exec         becomes another program, which waits (see below)
 *     term=N               on SIGTERM or SIGINT ends in good order after the
 *                          item in hand, with exit status N; 0: as without it
 *
 * Prints a line for each epoch, and one for all:
 *
 *     epoch 0 items N wrong N failed N
 *     all items N wrong N failed N hits N misses N reads N bytes N cached 0/1
 *     longest N us         the longest get
 *     block N expected N   with evict=1: read_bytes of /proc/self/io, and the
 *                          sizes of what was read, in whole pages
 *
 * The program that do=exec becomes prints how many descriptors it has more than
 * the job had at its start, makes the file READY.exec, and waits for GO.exec.
 *
 * Exit status 1 if anything was wrong or failed, or could not be opened.
 */

#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "destall.h"
#include "tests/harness/content.h"

#define HOLD_MAX	64u

static struct {
	unsigned long epochs, seed, part, parts, threads, hold, evict, check;
	unsigned long pace, at, term, had;
	const char *budget, *hub, *ready, *go, *what;
} opt = { .epochs = 1, .seed = 1, .parts = 1, .threads = 1, .check = 1,
	.hub = "start" };

static struct ds_data *data;
static const char *uri;
static uint64_t block_expected;
static uint64_t *order;
static uint64_t nr_items;
static _Atomic uint64_t next_position, items, wrong, failed, longest_us;
static _Atomic uint64_t nr_gets;
static unsigned nr_at_start;
static volatile sig_atomic_t is_asked_to_end;
static pthread_mutex_t said = PTHREAD_MUTEX_INITIALIZER;

static void
say(uint64_t i, const char *text)
{
	struct ds_info info = { "?", 0 };

	(void)ds_data_info(data, i, &info);
	pthread_mutex_lock(&said);
	fprintf(stderr, "job: %s: %s\n", info.name, text);
	pthread_mutex_unlock(&said);
}

static void
shuffle(uint64_t epoch)
{
	uint64_t seed = content_mix(opt.seed * 1000003 + epoch);

	for (uint64_t i = 0; i < nr_items; i++)
		order[i] = i;
	for (uint64_t i = nr_items; i > 1; i--) {
		uint64_t j, t;

		seed = content_mix(seed);
		j = seed % i;
		t = order[i - 1];
		order[i - 1] = order[j];
		order[j] = t;
	}
}

static void
look(uint64_t i, const struct ds_item *item)
{
	struct ds_info info;

	items++;
	if (ds_data_info(data, i, &info) < 0 || info.size != item->len ||
	    (opt.check && !content_is(item->bytes, item->len,
	    content_seed(info.name, item->len)))) {
		wrong++;
		say(i, "wrong bytes");
	}
}

/*--- what the block layer saw --------------------------------------------*/

static uint64_t
block_bytes(void)
{
	unsigned long long n = 0;
	char line[128];
	FILE *f = fopen("/proc/self/io", "re");

	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		if (sscanf(line, "read_bytes: %llu", &n) == 1)
			break;
	}
	if (f != NULL)
		fclose(f);
	return n;
}

static void
evict(uint64_t i)
{
	struct ds_info info;
	char path[8192];
	int fd;

	if (ds_data_info(data, i, &info) < 0)
		abort();
	snprintf(path, sizeof path, "%s/%s", uri, info.name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
		abort();
	close(fd);
}

static uint64_t
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static int
get_timed(uint64_t i, struct ds_item *item, struct ds_err *err)
{
	uint64_t begin_us = now_us(), took_us, longest = longest_us;
	int rc = ds_get(data, i, item, err);

	took_us = now_us() - begin_us;
	while (took_us > longest &&
	    !atomic_compare_exchange_weak(&longest_us, &longest, took_us))
		continue;
	return rc;
}

static int
get(uint64_t i, struct ds_item *item, struct ds_err *err)
{
	struct ds_counts before, after;
	int rc;

	if (!opt.evict)
		return get_timed(i, item, err);
	evict(i);
	ds_data_counts(data, &before);
	rc = ds_get(data, i, item, err);
	ds_data_counts(data, &after);
	if (rc == 0)
		block_expected += (after.storage_reads - before.storage_reads) *
		    ((item->len + 4095) / 4096 * 4096);
	return rc;
}

/*--- what jobs do besides ------------------------------------------------*/

static unsigned
count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned nr = 0;

	while (dir != NULL && readdir(dir) != NULL)
		nr++;
	if (dir != NULL)
		closedir(dir);
	return nr;
}

static _Noreturn void
become_another(void)
{
	char ready[4096], go[4096], had[32];

	snprintf(ready, sizeof ready, "ready=%s.exec", opt.ready);
	snprintf(go, sizeof go, "go=%s.exec", opt.go);
	snprintf(had, sizeof had, "had=%u", nr_at_start);
	execl("/proc/self/exe", "job", had, ready, go, "-", (char *)NULL);
	abort();
}

static void
do_besides(void)
{
	const struct timespec t = { (time_t)(opt.pace / 1000000),
		(long)(opt.pace % 1000000) * 1000 };

	if (opt.pace > 0)
		nanosleep(&t, NULL);
	if (opt.what == NULL || ++nr_gets != opt.at)
		return;
	if (strcmp(opt.what, "exec") == 0)
		become_another();
	raise(SIGSEGV);
}

static void
note_end(int signo)
{
	(void)signo;
	is_asked_to_end = 1;
}

static void
catch_end(void)
{
	struct sigaction sa = { .sa_handler = note_end, .sa_flags = SA_RESTART };

	if (opt.term == 0)
		return;
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
}

/*--- an epoch ------------------------------------------------------------*/

static void *
read_some(void *arg)
{
	struct ds_item held[HOLD_MAX];
	unsigned nr_held = 0;
	uint64_t p;

	(void)arg;
	while (!is_asked_to_end && (p = next_position++) < nr_items) {
		struct ds_err err = { 0, "" };
		struct ds_item item;

		if (p % opt.parts != opt.part)
			continue;
		do_besides();
		if (get(order[p], &item, &err) < 0) {
			failed++;
			say(order[p], err.text);
			continue;
		}
		look(order[p], &item);
		if (opt.hold == 0) {
			ds_put(data, &item);
			continue;
		}
		if (nr_held == opt.hold)
			ds_put(data, &held[--nr_held]);
		held[nr_held++] = item;
	}
	while (nr_held > 0)
		ds_put(data, &held[--nr_held]);
	return NULL;
}

static void
run_epoch(uint64_t epoch)
{
	uint64_t i0 = items, w0 = wrong, f0 = failed;
	pthread_t thread[64];

	shuffle(epoch);
	if (epoch > 0)
		ds_data_epoch(data);
	next_position = 0;
	for (unsigned long t = 1; t < opt.threads; t++) {
		if (pthread_create(&thread[t], NULL, read_some, NULL) != 0)
			abort();
	}
	read_some(NULL);
	for (unsigned long t = 1; t < opt.threads; t++)
		pthread_join(thread[t], NULL);
	printf("epoch %llu items %llu wrong %llu failed %llu\n",
	    (unsigned long long)epoch, (unsigned long long)(items - i0),
	    (unsigned long long)(wrong - w0),
	    (unsigned long long)(failed - f0));
	fflush(stdout);
}

static void
set_option(const char *name, char *value)
{
	struct { const char *name; unsigned long *field; } numbers[] = {
		{ "epochs", &opt.epochs }, { "seed", &opt.seed },
		{ "threads", &opt.threads }, { "hold", &opt.hold },
		{ "evict", &opt.evict }, { "check", &opt.check },
		{ "pace", &opt.pace }, { "at", &opt.at },
		{ "term", &opt.term }, { "had", &opt.had },
	};
	struct { const char *name; const char **field; } texts[] = {
		{ "budget", &opt.budget }, { "hub", &opt.hub },
		{ "ready", &opt.ready }, { "go", &opt.go },
		{ "do", &opt.what },
	};

	for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		if (strcmp(name, numbers[i].name) == 0) {
			*numbers[i].field = strtoul(value, NULL, 10);
			return;
		}
	}
	for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		if (strcmp(name, texts[i].name) == 0) {
			*texts[i].field = value;
			return;
		}
	}
	if (strcmp(name, "part") != 0 ||
	    sscanf(value, "%lu/%lu", &opt.part, &opt.parts) != 2) {
		fprintf(stderr, "job: unknown option %s\n", name);
		exit(2);
	}
}

static void
read_options(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *value = argv[i][0] == '/' ? NULL : strchr(argv[i], '=');

		if (value == NULL) {
			uri = argv[i];
			continue;
		}
		*value++ = '\0';
		set_option(argv[i], value);
	}
	if (uri == NULL || opt.threads > 64 || opt.hold > HOLD_MAX) {
		fprintf(stderr, "usage: job [OPTION=VALUE]... URI\n");
		exit(2);
	}
}

static void
open_data(struct ds_hub **hub)
{
	struct ds_err err = { 0, "" };

	if (strcmp(opt.hub, "none") != 0 && ds_connect(hub,
	    strcmp(opt.hub, "find") == 0 ? DS_NO_START : 0, &err) < 0) {
		fprintf(stderr, "job: %s\n", err.text);
		if (strcmp(opt.hub, "try") != 0)
			exit(1);
	}
	if (ds_data_open(&data, *hub, uri, opt.budget, &err) < 0) {
		fprintf(stderr, "job: %s\n", err.text);
		exit(1);
	}
	nr_items = ds_data_count(data);
	order = calloc(nr_items + 1, sizeof *order);
	if (order == NULL)
		abort();
}

static void
meet(void)
{
	const struct timespec ms = { 0, 1000000 };
	int fd;

	if (opt.ready != NULL) {
		fd = open(opt.ready, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		if (fd < 0)
			abort();
		close(fd);
	}
	while (opt.go != NULL && access(opt.go, F_OK) != 0)
		nanosleep(&ms, NULL);
}

int
main(int argc, char **argv)
{
	struct ds_hub *hub = NULL;
	uint64_t block_before;
	struct ds_counts n;

	nr_at_start = count_descriptors();
	read_options(argc, argv);
	if (opt.had > 0) {
		printf("more %d\n", (int)nr_at_start - (int)opt.had);
		fflush(stdout);
		meet();
		return 0;
	}
	catch_end();
	open_data(&hub);
	block_before = block_bytes();
	meet();
	for (unsigned long e = 0; e < opt.epochs && !is_asked_to_end; e++)
		run_epoch(e);
	ds_data_counts(data, &n);
	printf("all items %llu wrong %llu failed %llu hits %llu misses %llu "
	    "reads %llu bytes %llu cached %d\n", (unsigned long long)items,
	    (unsigned long long)wrong, (unsigned long long)failed,
	    (unsigned long long)n.hits, (unsigned long long)n.misses,
	    (unsigned long long)n.storage_reads,
	    (unsigned long long)n.storage_bytes, n.cached);
	printf("longest %llu us\n", (unsigned long long)longest_us);
	if (opt.evict)
		printf("block %llu expected %llu\n",
		    (unsigned long long)(block_bytes() - block_before),
		    (unsigned long long)block_expected);
	ds_data_close(&data);
	if (hub != NULL)
		ds_disconnect(&hub);
	free(order);
	if (is_asked_to_end)
		return (int)opt.term;
	return wrong + failed > 0;
}
