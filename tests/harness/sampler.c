/* SPDX-License-Identifier: Apache-2.0
 *
 * sampler.c: a job that needs nothing of its own that could fail: what fails in
 * it, fails in the library.  Run by tests.
 *
 *     sampler [EPOCHS] URI
 *
 * Reads every item in each epoch, starting the hub if there is none, and
 * without one if that cannot be; then closes everything.  Prints
 *
 *     items N wrong N failed N hub 0/1 heap N fds N maps N
 *
 * the last three being what is left: bytes of the heap, descriptors, and
 * mappings of shared memory.  Exit status: 0; 1 if the data set could not be
 * opened or an item not be read (the first reason is printed on standard
 * error); 3 if any bytes were wrong.
 */

#include <config.h>

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "destall.h"
#include "tests/harness/content.h"

static uint64_t items, wrong, failed;
static char buf[65536];

static void
complain(const struct ds_err *err)
{
	if (failed++ == 0)
		dprintf(2, "sampler: %s\n", err->text);
}

static void
look(struct ds_data *data, uint64_t i)
{
	struct ds_err err = { 0, "no reason was given" };
	struct ds_item item;
	struct ds_info info;

	if (ds_get(data, i, &item, &err) < 0) {
		complain(&err);
		return;
	}
	items++;
	if (ds_data_info(data, i, &info) < 0 || info.size != item.len ||
	    !content_is(item.bytes, item.len,
	    content_seed(info.name, item.len))) {
		wrong++;
		dprintf(2, "sampler: item %llu: wrong bytes\n",
		    (unsigned long long)i);
	}
	ds_put(data, &item);
}

static void
read_all(struct ds_hub *hub, const char *uri, unsigned long epochs)
{
	struct ds_err err = { 0, "no reason was given" };
	struct ds_data *data = NULL;

	if (ds_data_open(&data, hub, uri, NULL, &err) < 0) {
		complain(&err);
		return;
	}
	for (unsigned long e = 0; e < epochs; e++) {
		ds_data_epoch(data);
		for (uint64_t i = 0; i < ds_data_count(data); i++)
			look(data, i);
	}
	ds_data_close(&data);
}

/* One that opens nothing. */
static unsigned
count_fds(void)
{
	unsigned nr = 0;

	for (int fd = 0; fd < 4096; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/* No allocation here: it is the heap that is looked at. */
static unsigned
count_maps(void)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	unsigned nr = 0;
	ssize_t n;

	while (fd >= 0 && len < sizeof buf - 1 &&
	    (n = read(fd, buf + len, sizeof buf - 1 - len)) > 0)
		len += (size_t)n;
	if (fd >= 0)
		close(fd);
	buf[len] = '\0';
	for (const char *at = buf; (at = strstr(at, "memfd:")) != NULL; at++)
		nr++;
	return nr;
}

int
main(int argc, char **argv)
{
	unsigned long epochs = argc > 2 ? strtoul(argv[1], NULL, 10) : 1;
	struct ds_hub *hub = NULL;
	int has_hub;

	if (argc < 2)
		return 99;
	has_hub = ds_connect(&hub, 0, NULL) == 0;
	read_all(has_hub ? hub : NULL, argv[argc - 1], epochs);
	if (has_hub)
		ds_disconnect(&hub);
	dprintf(1, "items %llu wrong %llu failed %llu hub %d heap %zu fds %u "
	    "maps %u\n", (unsigned long long)items, (unsigned long long)wrong,
	    (unsigned long long)failed, has_hub, mallinfo2().uordblks,
	    count_fds(), count_maps());
	return wrong > 0 ? 3 : failed > 0;
}
