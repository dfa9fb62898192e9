/* SPDX-License-Identifier: Apache-2.0
 *
 * in_json_priv.h: what in_json.c and in_json_lists.c share.
 * Runs in the command only.
 */

#ifndef REPORTS_IN_JSON_PRIV_H
#define REPORTS_IN_JSON_PRIV_H

#include "reports/in_json.h"

/* Reads on after a fault; the first one is told. */
struct in_json {
	const char	*file;
	const char	*part;		/* of the document, or NULL */
	int		rc;
	struct ds_err	*err;
};

void in_json_refuse(struct in_json *in, const char *key, const char *want);

const json_t *in_json_object(struct in_json *in, const json_t *parent,
    const char *key);
	/* NULL if it is not there. */

/* These leave what is not there, or null, as it is. */
void in_json_number(struct in_json *in, const json_t *object, const char *key,
    double *out);
void in_json_count(struct in_json *in, const json_t *object, const char *key,
    uint64_t *out);
void in_json_flag(struct in_json *in, const json_t *object, const char *key,
    bool *out);
const char *in_json_text(struct in_json *in, const json_t *object,
    const char *key);
int in_json_choice(struct in_json *in, const json_t *object, const char *key,
    const char *const *names);
	/* An index, or -1. */
void in_json_figure(struct in_json *in, const json_t *object, const char *key,
    const json_t *intervals, const char *interval_key, struct figure *out);

void in_json_lists(struct in_json *in, const json_t *doc, struct result *r);

#endif
