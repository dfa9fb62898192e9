/* SPDX-License-Identifier: Apache-2.0
 *
 * top_json.c: `destall top --json`.  Runs in the command only.
 *
 * The members that doc and man page name are promised to scripts.
 */

#include <config.h>

#include "tool/top.h"

#include "base/clock.h"
#include "base/json.h"

static void
put_seconds(json_t *object, const char *key, uint64_t ns)
{
	json_put(object, key, json_real((double)ns / (double)NS_PER_S));
}

static const char *
name_state(enum place_state state)
{
	switch (state) {
	case PLACE_LIVE:
		return "live";
	case PLACE_DETACHED:
		return "detached";
	default:
		return "between epochs";
	}
}

static json_t *
make_job(const struct look_job *j)
{
	json_t *job = json_must(json_object());
	const uint64_t *word = j->at->word;
	uint64_t waits_pid = word[STAGE_MEMBER_WAITS_PID];

	json_put_count(job, "pid", j->at->pid);
	json_put(job, "name", json_text(j->at->name));
	json_put(job, "group", json_text(j->pass->group));
	json_put(job, "stream", json_string(j->stream->id));
	json_put(job, "state", json_string(name_state(j->state)));
	json_put_count(job, "epoch", j->pass->epoch);
	json_put_count(job, "batch", word[STAGE_MEMBER_TAKEN]);
	json_put_count(job, "batches", j->pass->units);
	json_put(job, "samples_per_s", json_real(
	    (double)word[STAGE_MEMBER_SAMPLES_PER_KS] / 1000));
	json_put(job, "waits_for", waits_pid > 0 ?
	    json_integer((json_int_t)waits_pid) : json_null());
	put_seconds(job, "waits_s", word[STAGE_MEMBER_WAITS_NS]);
	put_seconds(job, "waited_s", word[STAGE_MEMBER_WAITED_NS]);
	json_put_count(job, "made", j->made);
	return job;
}

static json_t *
make_stream(const struct look *k, const struct look_stream *s)
{
	json_t *stream = json_must(json_object());
	const struct look_pass *p = &k->passes[s->pass];

	json_put(stream, "id", json_string(s->id));
	json_put(stream, "group", json_text(p->group));
	json_put(stream, "key", json_text(p->key));
	json_put_count(stream, "jobs", s->jobs);
	json_put_count(stream, "epoch", p->epoch);
	json_put_count(stream, "passes", s->passes);
	json_put_count(stream, "batch_samples", p->unit);
	json_put_count(stream, "window_batches", s->window);
	json_put_count(stream, "made", s->made);
	json_put_count(stream, "delivered", s->delivered);
	json_put_count(stream, "alone", s->alone);
	json_put_count(stream, "late", s->late);
	json_put_count(stream, "revoked", s->revoked);
	json_put_count(stream, "detached", s->detached);
	json_put_count(stream, "bytes", s->bytes);
	return stream;
}

int
top_write_json(const struct top *t, const char *path, struct ds_err *err)
{
	json_t *doc = json_doc_new(), *cache = json_must(json_object());
	json_t *jobs = json_must(json_array());
	json_t *streams = json_must(json_array());

	for (size_t i = 0; i < t->stage.nr_jobs; i++)
		json_append(jobs, make_job(&t->stage.jobs[i]));
	for (size_t i = 0; i < t->stage.nr_streams; i++)
		json_append(streams,
		    make_stream(&t->stage, &t->stage.streams[i]));
	survey_fill_json(&t->cache, cache);
	json_put(doc, "jobs", jobs);
	json_put(doc, "streams", streams);
	json_put(doc, "cache", cache);
	return json_doc_write(doc, path, err);
}
