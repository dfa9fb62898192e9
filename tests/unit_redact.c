/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_redact.c: tests of base/redact.c.
 */

#include <config.h>

#include "base/redact.h"

#include <stdlib.h>
#include <string.h>

#include "tests/harness/unit.h"

#define MAX_WORDS	8

/* words: of a command, with blanks between. */
static void
check(const char *words, const char *want)
{
	char *text = strdup(words), *list[MAX_WORDS], *save, *line;
	int nr = 0;

	for (char *p = strtok_r(text, " ", &save); p != NULL;
	    p = strtok_r(NULL, " ", &save))
		list[nr++] = p;
	line = redact_line(nr, list);
	assert_string_equal(line, want);
	free(line);
	free(text);
}

static void
what_a_name_calls_secret_is_hidden(void **state)
{
	(void)state;
	check("train --api-key abc --lr 1", "train --api-key '***' --lr 1");
	check("train --token=abc x", "train '--token=***' x");
	check("env HF_TOKEN=abc WANDB_API_KEY=d train",
	    "env 'HF_TOKEN=***' 'WANDB_API_KEY=***' train");
	check("train +wandb.api_key=abc", "train '+wandb.api_key=***'");
	check("train --db.Password x --auth me:x",
	    "train --db.Password '***' --auth '***'");
	check("AWS_ACCESS_KEY_ID=x AWS_PROFILE=y",
	    "'AWS_ACCESS_KEY_ID=***' 'AWS_PROFILE=***'");
}

static void
headers_are_hidden(void **state)
{
	char header[] = "authorization: Bearer abc", get[] = "get";
	char *words[] = { get, header }, *line;

	(void)state;
	line = redact_line(2, words);
	assert_string_equal(line, "get 'authorization: ***'");
	free(line);
}

static void
secrets_of_addresses_are_hidden(void **state)
{
	(void)state;
	check("get https://h/a?b=c&X-Amz-Signature=abc&sig=d#e",
	    "get 'https://h/a?b=c&X-Amz-Signature=***&sig=***#e'");
	check("train --db redis://me:abc@host:1/2?a@b",
	    "train --db 'redis://me:***@host:1/2?a@b'");
	check("train --data=s3://k:abc@host/?token=x",
	    "train '--data=s3://k:***@host/?token=***'");
	check("get https://me@host http://host:80/a:b@c http://me:@host",
	    "get https://me@host http://host:80/a:b@c http://me:@host");
}

static void
the_rest_is_as_it_was(void **state)
{
	static const char *const same[] = { "train --max-tokens 512 --tokenizer x",
	    "train --key-frames 3 --monkey x", "train token abc secret",
	    "train --token", "train --token --lr 1", "train --token= x",
	    "train a=b --x=y", "--" };

	(void)state;
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		check(same[i], same[i]);
	check("", "");
}

UNIT_MAIN(
	UNIT(what_a_name_calls_secret_is_hidden),
	UNIT(headers_are_hidden),
	UNIT(secrets_of_addresses_are_hidden),
	UNIT(the_rest_is_as_it_was))
