/* SPDX-License-Identifier: Apache-2.0
 *
 * labels.c: which items of a data set are samples, and the label of each.
 * Runs in clients.
 *
 *  1. Eight bytes a sample for its item, four for its label; the names of the
 *     classes are copied.
 *  2. Pictures of one folder lie side by side in the order of items (in each
 *     shard), so classes are sorted as runs of pictures, not one by one.
 */

#include <config.h>

#include "loader/labels.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "cache/data.h"
#include "loader/label_list.h"

#define LABELS_MAGIC	0x6c6162e1u
#define FIRST_RUNS	64u

struct labels {
	unsigned	magic;
	uint64_t	nr;
	uint64_t	*items;
	int32_t		*labels;	/* NULL: there are none */
	uint64_t	nr_classes;
	char		**classes;	/* by label; NULL: they have no names */
};

/* Pictures side by side, from first on, whose class is the same. */
struct run {
	const char	*class;		/* in the name of an item */
	size_t		len;
	uint64_t	first, nr;
};

struct runs {
	struct run	*runs;
	size_t		nr, max;
};

static int
fail_memory(struct ds_err *err)
{
	return err_fail(err, -ENOMEM, "labels: no memory");
}

/*--- names ---------------------------------------------------------------*/

/* In ASCII, whatever locale the job runs under. */
static bool
is_suffix(const char *text, const char *small)
{
	for (; *small != '\0'; text++, small++) {
		if (*text != *small && *text != *small - 'a' + 'A')
			return false;
	}
	return *text == '\0';
}

/* The suffixes of torchvision's ImageFolder. */
static bool
is_picture(const char *name)
{
	static const char *const suffixes[] = {
		"jpg", "jpeg", "png", "ppm", "bmp", "pgm", "tif", "tiff",
		"webp",
	};
	const char *dot = strrchr(name, '.');

	if (dot == NULL)
		return false;
	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
		if (is_suffix(dot + 1, suffixes[i]))
			return true;
	}
	return false;
}

/* NULL: what the hub wrote down is not sound. */
static const char *
name_of(const struct ds_data *data, uint64_t i, struct ds_err *err)
{
	struct ds_info info;

	if (ds_data_info(data, i, &info) == 0)
		return info.name;
	(void)err_fail(err, -EBADMSG, "data set %s: item %llu has no name",
	    source_uri(data->source), (unsigned long long)i);
	return NULL;
}

/* The first folder of a name, in its shard if it lies in one; archives may
 * have a "./" before everything. */
static bool
find_class(const struct ds_data *data, uint64_t i, const char *name,
    struct run *r)
{
	size_t shard = data_key(data, i)->shard_len;
	const char *slash;

	if (shard > 0 && shard < strlen(name))
		name += shard + 1;
	while (strncmp(name, "./", 2) == 0)
		name += 2;
	slash = strchr(name, '/');
	if (slash == NULL || slash == name)
		return false;
	*r = (struct run){ .class = name, .len = (size_t)(slash - name) };
	return true;
}

/*--- all pictures --------------------------------------------------------*/

static int
find_pictures(struct labels *l, const struct ds_data *data,
    struct ds_err *err)
{
	uint64_t count = ds_data_count(data);

	for (uint64_t i = 0; i < count; i++) {
		const char *name = name_of(data, i, err);

		if (name == NULL)
			return -EBADMSG;
		if (is_picture(name))
			l->items[l->nr++] = i;
	}
	if (l->nr == 0)
		return err_fail(err, -ENOENT, "data set %s: no pictures in "
		    "it: files whose names end in .jpg, .jpeg, .png and the "
		    "like", source_uri(data->source));
	return 0;
}

/*--- by folders ----------------------------------------------------------*/

static int
compare_classes(const struct run *a, const struct run *b)
{
	size_t len = a->len < b->len ? a->len : b->len;
	int order = memcmp(a->class, b->class, len);

	return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
}

static int
compare_runs(const void *a, const void *b)
{
	return compare_classes(a, b);
}

static int
add_run(struct runs *all, const struct run *r)
{
	struct run *runs = all->runs;

	if (all->nr == all->max) {
		size_t max = all->max > 0 ? 2 * all->max : FIRST_RUNS;

		runs = reallocarray(runs, max, sizeof *runs);
		if (runs == NULL)
			return -ENOMEM;
		all->runs = runs;
		all->max = max;
	}
	runs[all->nr++] = *r;
	return 0;
}

static int
find_runs(const struct labels *l, const struct ds_data *data,
    struct runs *all, struct ds_err *err)
{
	struct run r, *last;

	for (uint64_t i = 0; i < l->nr; i++) {
		const char *name = name_of(data, l->items[i], err);

		if (name == NULL)
			return -EBADMSG;
		if (!find_class(data, l->items[i], name, &r))
			return err_fail(err, -EINVAL, "data set %s: %.200s "
			    "lies in no folder, so it has no class: set "
			    "labels to none, or to the path of a list",
			    source_uri(data->source), name);
		r.first = i;
		last = all->nr > 0 ? &all->runs[all->nr - 1] : NULL;
		if (last == NULL || compare_classes(last, &r) != 0) {
			if (add_run(all, &r) < 0)
				return fail_memory(err);
			last = &all->runs[all->nr - 1];
		}
		last->nr++;
	}
	return 0;
}

static uint64_t
count_classes(const struct runs *all)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < all->nr; i++)
		nr += i == 0 ||
		    compare_classes(&all->runs[i - 1], &all->runs[i]) != 0;
	return nr;
}

/* Runs that are sorted: those of a class stand together. */
static int
give_labels(struct labels *l, const struct runs *all, struct ds_err *err)
{
	const struct run *prev = NULL;

	l->classes = calloc(count_classes(all), sizeof *l->classes);
	if (l->classes == NULL)
		return fail_memory(err);
	for (size_t i = 0; i < all->nr; i++) {
		const struct run *r = &all->runs[i];

		if (prev == NULL || compare_classes(prev, r) != 0) {
			char *name = strndup(r->class, r->len);

			if (name == NULL)
				return fail_memory(err);
			l->classes[l->nr_classes++] = name;
		}
		for (uint64_t k = 0; k < r->nr; k++)
			l->labels[r->first + k] = (int32_t)l->nr_classes - 1;
		prev = r;
	}
	return 0;
}

static int
label_folders(struct labels *l, const struct ds_data *data,
    struct ds_err *err)
{
	struct runs all = { .nr = 0 };
	int rc = find_runs(l, data, &all, err);

	if (rc == 0 && all.nr > 0) {
		qsort(all.runs, all.nr, sizeof *all.runs, compare_runs);
		rc = give_labels(l, &all, err);
	}
	free(all.runs);
	return rc;
}

/*--- by a list -----------------------------------------------------------*/

struct listed {
	struct labels	*l;
	const struct ds_data *data;
	uint8_t		*taken;		/* a bit for each item */
};

static int
add_listed(void *arg, const char *path, int32_t label, struct ds_err *err)
{
	struct listed *s = arg;
	int64_t item = ds_data_find(s->data, path);

	if (item < 0)
		return err_fail(err, -EBADMSG, "%.200s is not in data set %s",
		    path, source_uri(s->data->source));
	if ((s->taken[item / 8] >> item % 8 & 1) != 0)
		return err_fail(err, -EBADMSG, "%.200s is listed already",
		    path);
	s->taken[item / 8] |= (uint8_t)(1u << item % 8);
	s->l->items[s->l->nr] = (uint64_t)item;
	s->l->labels[s->l->nr++] = label;
	return 0;
}

static int
read_list(struct labels *l, const char *path, const struct ds_data *data,
    struct ds_err *err)
{
	struct listed s = { .l = l, .data = data };
	int rc;

	s.taken = calloc(ds_data_count(data) / 8 + 1, 1);
	if (s.taken == NULL)
		return fail_memory(err);
	rc = label_list_read(path, add_listed, &s, err);
	free(s.taken);
	if (rc == -ENOENT && strchr(path, '/') == NULL)
		return err_hint(err, rc, "labels are 'folders', 'none' or "
		    "the path of a list");
	if (rc == 0 && l->nr == 0)
		return err_fail(err, -ENOENT, "list of labels %s: no sample "
		    "is listed", path);
	return rc;
}

/*--- opening -------------------------------------------------------------*/

static int
find_samples(struct labels *l, const char *how, const struct ds_data *data,
    struct ds_err *err)
{
	bool folders = strcmp(how, "folders") == 0;
	bool none = strcmp(how, "none") == 0;
	size_t room = (size_t)ds_data_count(data) + 1;
	int rc;

	l->items = calloc(room, sizeof *l->items);
	if (l->items == NULL)
		return fail_memory(err);
	if (!none) {
		l->labels = calloc(room, sizeof *l->labels);
		if (l->labels == NULL)
			return fail_memory(err);
	}
	if (!folders && !none)
		return read_list(l, how, data, err);
	rc = find_pictures(l, data, err);
	return rc == 0 && folders ? label_folders(l, data, err) : rc;
}

int
labels_open(struct labels **out, const char *how, struct ds_data *data,
    const uint64_t **items, uint64_t *nr, struct ds_err *err)
{
	struct labels *l = calloc(1, sizeof *l);
	int rc;

	if (l == NULL)
		return fail_memory(err);
	l->magic = LABELS_MAGIC;
	rc = find_samples(l, how, data, err);
	if (rc < 0) {
		labels_close(&l);
		return rc;
	}
	*items = l->items;
	*nr = l->nr;
	*out = l;
	return 0;
}

void
labels_close(struct labels **lp)
{
	struct labels *l = *lp;

	if (l == NULL)
		return;
	must_be(l, LABELS_MAGIC);
	*lp = NULL;
	for (uint64_t i = 0; i < l->nr_classes; i++)
		free(l->classes[i]);
	free(l->classes);
	free(l->labels);
	free(l->items);
	l->magic = 0;
	free(l);
}

/*--- asking --------------------------------------------------------------*/

int64_t
labels_of(const struct labels *l, uint64_t sample)
{
	must_be(l, LABELS_MAGIC);
	must(sample < l->nr);
	return l->labels != NULL ? l->labels[sample] : -1;
}

uint64_t
labels_classes(const struct labels *l)
{
	uint64_t nr = 0;

	must_be(l, LABELS_MAGIC);
	if (l->classes != NULL || l->labels == NULL)
		return l->nr_classes;
	for (uint64_t i = 0; i < l->nr; i++) {
		if ((uint64_t)l->labels[i] >= nr)
			nr = (uint64_t)l->labels[i] + 1;
	}
	return nr;
}

const char *
labels_class(const struct labels *l, int64_t label)
{
	must_be(l, LABELS_MAGIC);
	if (label < 0 || (uint64_t)label >= l->nr_classes)
		return NULL;
	return l->classes[label];
}
