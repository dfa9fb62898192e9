/* SPDX-License-Identifier: Apache-2.0
 *
 * json.h: JSON documents, through Jansson.  Runs in the command only: the
 * library inside a job neither reads nor writes JSON.
 *
 * A document is an object whose first member is "schema_version".  Making one
 * ends the command if there is no memory.
 */

#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdint.h>

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

#define JSON_SCHEMA_VERSION	1

json_t *json_doc_new(void);
	/* A document to fill. */

json_t *json_text(const char *bytes);
	/* A string value of any bytes: those that are not UTF-8 become \xNN. */

/* These make and fill documents; memory that there is none of ends the
 * command. */
json_t *json_must(json_t *value);
void json_put(json_t *object, const char *key, json_t *value);
void json_put_count(json_t *object, const char *key, uint64_t n);
void json_append(json_t *array, json_t *value);

int json_doc_write(json_t *doc, const char *path, struct ds_err *err);
	/* Takes the document over and writes it to standard output, or, if
	 * path is not NULL, there (base/outfile.h). */

int json_doc_parse(json_t **doc, const char *text, size_t len,
    const char *name, struct ds_err *err);
	/* A document that somebody else wrote: an object of our version, no
	 * member twice.  name is for messages.  -EBADMSG if it is not one. */

int json_doc_read(json_t **doc, const char *path, struct ds_err *err);
	/* The same from a file of at most 64 MiB. */

#endif
