/* SPDX-License-Identifier: Apache-2.0
 *
 * observe_hub.c: what the cache and the stage have counted, for the observers of
 * a profile (analyzer/observe.h).  Runs in the command only.
 *
 *  1. A pass is gone soon after it has ended, and what it counted with it: so
 *     what each grew by is added up here.  What it did after the last look is
 *     lost.
 */

#include <config.h>

#include <stdlib.h>

#include "analyzer/observe.h"
#include "base/say.h"
#include "cache/survey.h"
#include "hub/link.h"
#include "stage/look.h"

enum { MADE, DELIVERED, ALONE, WORDS };

static const enum stage_pass_word words[WORDS] = {
	[MADE] = STAGE_PASS_MADE,
	[DELIVERED] = STAGE_PASS_DELIVERED,
	[ALONE] = STAGE_PASS_ALONE,
};

struct pass {
	uint32_t	pass;
	uint64_t	word[WORDS];
};

struct hub_watch {
	struct link	*link;
	struct pass	*passes;	/* at the last look */
	size_t		nr_passes;
	uint64_t	total[WORDS];
};

static int
open_hub(void **out, struct ds_err *err)
{
	struct hub_watch *h = calloc(1, sizeof *h);
	int rc;

	if (h == NULL)
		say_no_memory();
	rc = link_new(&h->link, false, err);
	if (rc < 0) {
		free(h);
		return rc;
	}
	*out = h;
	return 0;
}

static void
close_hub(void *hub)
{
	struct hub_watch *h = hub;

	link_free(&h->link);
	free(h->passes);
	free(h);
}

/*--- the cache -----------------------------------------------------------*/

static void
add_set(const struct survey_set *s, uint64_t count[HUB_COUNTS])
{
	count[HUB_HITS] += s->word[CACHE_STAT_HITS];
	count[HUB_MISSES] += s->word[CACHE_STAT_MISSES];
	count[HUB_STORAGE_READS] += s->word[CACHE_STAT_STORAGE_READS];
	count[HUB_STORAGE_BYTES] += s->word[CACHE_STAT_STORAGE_BYTES];
}

static int
read_cache(struct hub_watch *h, uint64_t count[HUB_COUNTS], struct ds_err *err)
{
	struct survey s;
	int rc = survey_take(&s, h->link, err);

	for (size_t i = 0; rc == 0 && i < s.nr_sets; i++)
		add_set(&s.sets[i], count);
	survey_fini(&s);
	return rc;
}

/*--- the stage -----------------------------------------------------------*/

static uint64_t
find_before(const struct hub_watch *h, uint32_t pass, unsigned word)
{
	for (size_t i = 0; i < h->nr_passes; i++) {
		if (h->passes[i].pass == pass)
			return h->passes[i].word[word];
	}
	return 0;
}

static void
add_passes(struct hub_watch *h, const struct look *k)
{
	struct pass *now = calloc(k->nr_passes + 1, sizeof *now);
	uint64_t before;

	if (now == NULL)
		say_no_memory();
	for (size_t i = 0; i < k->nr_passes; i++) {
		now[i].pass = k->passes[i].pass;
		for (unsigned j = 0; j < WORDS; j++) {
			now[i].word[j] = k->passes[i].word[words[j]];
			before = find_before(h, now[i].pass, j);
			if (now[i].word[j] > before)
				h->total[j] += now[i].word[j] - before;
		}
	}
	free(h->passes);
	h->passes = now;
	h->nr_passes = k->nr_passes;
}

static int
read_stage(struct hub_watch *h, uint64_t count[HUB_COUNTS], struct ds_err *err)
{
	struct look k;
	int rc = look_take(&k, h->link, err);

	if (rc == 0)
		add_passes(h, &k);
	look_fini(&k);
	count[HUB_MADE] = h->total[MADE];
	count[HUB_DELIVERED] = h->total[DELIVERED];
	count[HUB_ALONE] = h->total[ALONE];
	return rc;
}

static int
read_hub(void *hub, uint64_t count[HUB_COUNTS], struct ds_err *err)
{
	int rc;

	for (unsigned i = 0; i < HUB_COUNTS; i++)
		count[i] = 0;
	rc = read_cache(hub, count, err);
	return rc < 0 ? rc : read_stage(hub, count, err);
}

const struct observe_hub observe_hub = {
	.open = open_hub, .read = read_hub, .close = close_hub,
};
