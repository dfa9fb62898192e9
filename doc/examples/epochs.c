/* SPDX-License-Identifier: Apache-2.0
 *
 * epochs.c: reads a data set as a training job does: all of it, in another
 * order each time, through destall's cache.
 *
 *     cc -o epochs epochs.c $(pkg-config --cflags --libs destall)
 *     ./epochs /data/train 3 35%
 *
 * Run it twice, or several at once: what one has cached the others find.
 */

#include <destall.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A permutation of 0 .. n-1, another one for each seed. */
static void
shuffle(uint64_t *order, uint64_t n, uint64_t seed)
{
	for (uint64_t i = 0; i < n; i++)
		order[i] = i;
	for (uint64_t i = n; i > 1; i--) {
		uint64_t j, keep = order[i - 1];

		seed = seed * UINT64_C(6364136223846793005) +
		    UINT64_C(1442695040888963407);
		j = (seed >> 33) % i;
		order[i - 1] = order[j];
		order[j] = keep;
	}
}

/* What a job would do with an item: here, a sum of its bytes. */
static uint64_t
use(const struct ds_item *item)
{
	const unsigned char *p = item->bytes;
	uint64_t sum = 0;

	for (size_t i = 0; i < item->len; i++)
		sum += p[i];
	return sum;
}

static int
read_epoch(struct ds_data *data, const uint64_t *order, uint64_t n)
{
	struct ds_item item;
	struct ds_err err;
	uint64_t sum = 0;
	int failures = 0;

	ds_data_epoch(data);
	for (uint64_t i = 0; i < n; i++) {
		if (ds_get(data, order[i], &item, &err) < 0) {
			fprintf(stderr, "epochs: %s\n", err.text);
			failures++;
			continue;
		}
		sum += use(&item);	/* valid until it is put */
		ds_put(data, &item);
	}
	printf("sum %" PRIu64 "\n", sum);
	return failures;
}

static int
read_epochs(struct ds_data *data, unsigned long epochs)
{
	uint64_t n = ds_data_count(data);
	uint64_t *order = malloc((size_t)(n + 1) * sizeof *order);
	struct ds_counts before = { 0 }, now;
	int failures = 0;

	if (order == NULL)
		return 1;
	for (unsigned long e = 0; e < epochs; e++) {
		shuffle(order, n, e + 1);
		failures += read_epoch(data, order, n);
		ds_data_counts(data, &now);
		printf("epoch %lu: %" PRIu64 " from the cache, %" PRIu64
		    " from storage\n", e, now.hits - before.hits,
		    now.misses - before.misses);
		before = now;
	}
	free(order);
	return failures;
}

int
main(int argc, char **argv)
{
	struct ds_hub *hub = NULL;
	struct ds_data *data;
	struct ds_err err;
	int failures;

	if (argc < 2) {
		fprintf(stderr, "usage: epochs FOLDER [EPOCHS [SHARE%%]]\n");
		return 2;
	}
	/* Without a hub it goes on: every item is read from storage then. */
	if (ds_connect(&hub, 0, &err) < 0)
		fprintf(stderr, "epochs: no cache: %s\n", err.text);
	if (ds_data_open(&data, hub, argv[1], argc > 3 ? argv[3] : NULL,
	    &err) < 0) {
		fprintf(stderr, "epochs: %s\n", err.text);
		ds_disconnect(&hub);
		return 1;
	}
	if (hub != NULL && ds_data_uncached(data) != NULL)
		fprintf(stderr, "epochs: not cached: %s\n",
		    ds_data_uncached(data));
	failures = read_epochs(data,
	    argc > 2 ? strtoul(argv[2], NULL, 10) : 3);
	ds_data_close(&data);
	ds_disconnect(&hub);
	return failures > 0;
}
