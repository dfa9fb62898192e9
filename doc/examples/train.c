/* SPDX-License-Identifier: Apache-2.0
 *
 * train.c: a whole training job over destall's loader: a linear classifier of
 * small pictures, whose folders are the classes.  It saves its weights together
 * with its position in the data, and goes on from both.
 *
 *     cc -o train train.c $(pkg-config --cflags --libs destall) -lm
 *     ./train /data/train 3 checkpoint
 *
 * A fourth argument ends it after so many batches; the same command without it
 * goes on, and ends with the same weights as a job that was not interrupted.
 */

#define _POSIX_C_SOURCE 200809L

#include <destall.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SIDE		32u
#define INPUTS		(3u * SIDE * SIDE)
#define RATE		0.01f
#define EPOCHS		"3"

/* All that a checkpoint holds, but for the weights. */
struct state {
	char	position[DS_POSITION_TEXT];	/* in the data */
	int64_t	classes;
};

struct model {
	struct state state;
	float	*weights;	/* of each class: INPUTS and a constant */
	float	*scores;	/* of each class */
};

static int
fail(const char *what)
{
	fprintf(stderr, "train: %s\n", what);
	return -1;
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/*--- the model -----------------------------------------------------------*/

static size_t
count_weights(const struct model *m)
{
	return (size_t)m->state.classes * (INPUTS + 1);
}

static int
model_init(struct model *m, int64_t classes)
{
	m->state.classes = classes;
	m->weights = (float *)calloc(count_weights(m), sizeof(float));
	m->scores = (float *)calloc((size_t)classes, sizeof(float));
	return m->weights == NULL || m->scores == NULL ?
	    fail("out of memory") : 0;
}

static void
model_fini(struct model *m)
{
	free(m->weights);
	free(m->scores);
}

/* The likelihood of each class, into scores. */
static void
look(struct model *m, const float *x)
{
	float most = -INFINITY, sum = 0;
	int64_t c;

	for (c = 0; c < m->state.classes; c++) {
		const float *w = m->weights + c * (INPUTS + 1);
		float s = w[INPUTS];

		for (unsigned i = 0; i < INPUTS; i++)
			s += w[i] * x[i];
		m->scores[c] = s;
		most = s > most ? s : most;
	}
	for (c = 0; c < m->state.classes; c++)
		sum += m->scores[c] = expf(m->scores[c] - most);
	for (c = 0; c < m->state.classes; c++)
		m->scores[c] /= sum;
}

/* One step against the gradient; the loss before it. */
static double
learn(struct model *m, const float *x, int64_t label)
{
	double loss;

	look(m, x);
	loss = -log((double)m->scores[label] + 1e-30);
	for (int64_t c = 0; c < m->state.classes; c++) {
		float *w = m->weights + c * (INPUTS + 1);
		float step = RATE / INPUTS *
		    (m->scores[c] - (c == label ? 1.0f : 0.0f));

		for (unsigned i = 0; i < INPUTS; i++)
			w[i] -= step * x[i];
		w[INPUTS] -= step;
	}
	return loss;
}

/*--- checkpoints ---------------------------------------------------------*/

/* Beside the old one first, so that there always is a whole one. */
static int
save(struct ds_loader *loader, struct model *m, const char *path)
{
	char part[4096];
	struct ds_err err;
	int whole;
	FILE *f;

	memset(m->state.position, 0, sizeof m->state.position);
	if (ds_loader_save(loader, m->state.position, &err) < 0)
		return fail(err.text);
	if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
		return fail("the checkpoint's name is too long");
	f = fopen(part, "wb");
	if (f == NULL)
		return fail("cannot make a checkpoint");
	whole = fwrite(&m->state, sizeof m->state, 1, f) == 1 &&
	    fwrite(m->weights, sizeof(float), count_weights(m), f) ==
	    count_weights(m) && fflush(f) == 0 && fsync(fileno(f)) == 0;
	if (fclose(f) != 0 || !whole || rename(part, path) != 0)
		return fail("cannot write the checkpoint");
	return 0;
}

/* 0 also if there is none. */
static int
restore(struct ds_loader *loader, struct model *m, const char *path)
{
	FILE *f = fopen(path, "rb");
	struct state s;
	struct ds_err err;
	int whole;

	if (f == NULL)
		return 0;
	whole = fread(&s, sizeof s, 1, f) == 1 &&
	    s.classes == m->state.classes &&
	    memchr(s.position, '\0', sizeof s.position) != NULL &&
	    fread(m->weights, sizeof(float), count_weights(m), f) ==
	    count_weights(m);
	fclose(f);
	if (!whole)
		return fail("the checkpoint is not one of this job");
	if (ds_loader_restore(loader, s.position, &err) < 0)
		return fail(err.text);
	puts("goes on from the checkpoint");
	return 0;
}

/*--- the training loop ---------------------------------------------------*/

struct sums {
	uint64_t epoch, samples, right;
	double	loss, start, waited;
};

static void
use(struct model *m, const struct ds_batch *b, struct sums *s)
{
	const float *x = (const float *)b->samples;

	s->epoch = b->epoch;
	for (uint32_t k = 0; k < b->count; k++, x += INPUTS) {
		double loss = learn(m, x, b->labels[k]);

		s->loss += loss;
		s->right += loss < 0.69;	/* more likely than not */
		s->samples++;
	}
}

static void
print(const struct sums *s)
{
	double time = seconds() - s->start;

	if (s->samples > 0)
		printf("epoch %" PRIu64 ": loss %.4f, %.1f %% sure, %.0f "
		    "samples/s, waited %.0f %%\n", s->epoch,
		    s->loss / (double)s->samples,
		    100.0 * (double)s->right / (double)s->samples,
		    (double)s->samples / time, 100.0 * s->waited / time);
}

static int
train(struct ds_loader *loader, struct model *m, const char *path,
    unsigned long batches)
{
	struct sums s;
	struct ds_batch *b = NULL;
	struct ds_err err;
	double asked;
	int rc;

	memset(&s, 0, sizeof s);
	s.start = seconds();
	do {
		asked = seconds();
		rc = ds_loader_next(loader, &b, &err);
		s.waited += seconds() - asked;
		if (rc > 0) {		/* a batch, ours until released */
			use(m, b, &s);
			ds_loader_release(loader, &b);
			batches--;
		} else if (rc == 0) {	/* the end of an epoch */
			print(&s);
			if (path != NULL && save(loader, m, path) < 0)
				return -1;
			memset(&s, 0, sizeof s);
			s.start = seconds();
		}
	} while (rc >= 0 && batches > 0);
	if (rc < 0 && rc != -ENOENT)		/* no more epochs */
		return fail(err.text);
	return path != NULL ? save(loader, m, path) : 0;
}

/*--- before it -----------------------------------------------------------*/

static int
set_up(struct ds_loader *loader, const char *epochs)
{
	static const char *const options[][2] = {
		{ "batch", "64" }, { "seed", "1" }, { "size", "32" },
		{ "type", "fp32" }, { "layout", "nchw" }, { "on-bad", "skip" },
	};
	struct ds_err err;

	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		if (ds_loader_set(loader, options[i][0], options[i][1],
		    &err) < 0)
			return fail(err.text);
	}
	if (ds_loader_set(loader, "epochs", epochs, &err) < 0 ||
	    ds_loader_samples(loader, &err) < 0)
		return fail(err.text);
	return 0;
}

static int
run(struct ds_loader *loader, int argc, char **argv)
{
	const char *path = argc > 3 ? argv[3] : NULL;
	struct ds_loader_counts counts;
	struct model m;
	int64_t classes = 0;
	int rc;

	if (set_up(loader, argc > 2 ? argv[2] : EPOCHS) < 0)
		return -1;
	while (ds_loader_class(loader, classes) != NULL)
		classes++;
	memset(&m, 0, sizeof m);
	rc = model_init(&m, classes);
	if (rc == 0 && path != NULL)
		rc = restore(loader, &m, path);
	if (rc == 0)
		rc = train(loader, &m, path,
		    argc > 4 ? strtoul(argv[4], NULL, 10) : (unsigned long)-1);
	model_fini(&m);
	ds_loader_counts(loader, &counts);
	if (counts.skipped > 0)
		fprintf(stderr, "train: %" PRIu64 " bad pictures were left "
		    "out\n", counts.skipped);
	return rc;
}

int
main(int argc, char **argv)
{
	struct ds_hub *hub = NULL;
	struct ds_data *data = NULL;
	struct ds_loader *loader = NULL;
	struct ds_err err;
	int rc;

	if (argc < 2) {
		fprintf(stderr, "usage: train FOLDER [EPOCHS [CHECKPOINT "
		    "[BATCHES]]]\n");
		return 2;
	}
	/* Without a hub it goes on: all is read from storage then. */
	if (ds_connect(&hub, 0, &err) < 0)
		fprintf(stderr, "train: no cache: %s\n", err.text);
	rc = ds_data_open(&data, hub, argv[1], NULL, &err);
	if (rc == 0)
		rc = ds_loader_open(&loader, data, &err);
	if (rc < 0)
		fail(err.text);
	else
		rc = run(loader, argc, argv);
	ds_loader_close(&loader);
	ds_data_close(&data);
	ds_disconnect(&hub);
	return rc < 0;
}
