/* SPDX-License-Identifier: Apache-2.0
 *
 * data_settings.c: how a data set is to be cached: what the job says of it,
 * and the environment.  Runs in clients.
 */

#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/env.h"
#include "cache/data.h"
#include "cache/messages.h"

#define CACHE_VARIABLE	"DESTALL_CACHE"
#define AUDIT_VARIABLE	"DESTALL_AUDIT"
#define FRACTION_MAX	64	/* characters */

/* At least one millionth: none at all would mean no share of its own. */
static uint32_t
share_of(const struct budget *b)
{
	uint32_t share = (uint32_t)(b->share * CACHE_SHARE_ONE + 0.5);

	return share > 0 ? share : 1;
}

static int
read_budget(const char *text, uint32_t *share, struct ds_err *err)
{
	struct budget b;
	int rc = parse_budget(text, &b, err);

	if (rc < 0)
		return rc;
	if (!b.is_share)
		return err_fail(err, -EINVAL, "cache budget '%s': bytes are "
		    "the hub's ceiling over all data sets, not one's own: "
		    "write a share of this one, such as 35%%, or start the "
		    "hub with %s=%s", text, CACHE_VARIABLE, text);
	*share = share_of(&b);
	return 0;
}

/* What is not a share there is for the hub to read. */
static int
read_budget_variable(uint32_t *share, struct ds_err *err)
{
	const char *text = env_get(CACHE_VARIABLE);
	struct ds_err why;
	struct budget b;
	int rc;

	if (text == NULL || strchr(text, '%') == NULL)
		return 0;
	rc = parse_budget(text, &b, &why);
	if (rc < 0)
		return err_fail(err, rc, "%s: %s", CACHE_VARIABLE, why.text);
	*share = share_of(&b);
	return 0;
}

/* A fraction such as 0.01, or as a percentage, 1%. */
static int
read_fraction(const char *text, double *fraction)
{
	char percent[FRACTION_MAX];
	double f;
	int rc;

	if (strchr(text, '%') != NULL)
		return parse_share(text, fraction, NULL);
	if (strlen(text) > sizeof percent - 2)
		return -EINVAL;
	(void)snprintf(percent, sizeof percent, "%s%%", text);
	rc = parse_share(percent, &f, NULL);
	if (rc < 0)
		return rc;
	if (f * 100 > 1)
		return -ERANGE;
	*fraction = f * 100;
	return 0;
}

static int
read_audit(uint32_t *audit, struct ds_err *err)
{
	const char *text = env_get(AUDIT_VARIABLE);
	double f = 0;
	int rc;

	if (text == NULL || text[0] == '\0')
		return 0;
	rc = read_fraction(text, &f);
	if (rc < 0)
		return err_fail(err, rc, "%s: '%s' is not a fraction: write "
		    "0.01 or 1%%, at most 1 or 100%%", AUDIT_VARIABLE, text);
	*audit = (uint32_t)(f * DATA_AUDIT_ALL);
	return 0;
}

int
data_settings_read(struct data_settings *s, const char *budget,
    struct ds_err *err)
{
	int rc;

	*s = (struct data_settings){ 0 };
	rc = budget != NULL ? read_budget(budget, &s->share, err) :
	    read_budget_variable(&s->share, err);
	return rc < 0 ? rc : read_audit(&s->audit, err);
}
