/* SPDX-License-Identifier: Apache-2.0
 *
 * redact.c: command lines without secrets.  Runs in the command only.
 */

#include <config.h>

#include "base/redact.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/say.h"
#include "base/shell.h"

#define HIDDEN		"***"
#define BETWEEN		"-_.+"		/* words of a name */
#define HEADER		"Authorization:"
#define CLOUD		"AWS_"		/* whatever is behind it */

/*--- names ---------------------------------------------------------------*/

static bool
is_one_of(const char *word, size_t len, const char *const list[])
{
	for (; *list != NULL; list++) {
		if (strlen(*list) == len && strncasecmp(word, *list, len) == 0)
			return true;
	}
	return false;
}

/* Does it name a secret?  --max-tokens and --key-frames do not. */
static bool
is_secret(const char *name, size_t len)
{
	static const char *const anywhere[] = { "password", "passwd",
	    "passphrase", "secret", "secrets", "token", "credential",
	    "credentials", "apikey", "signature", "sig", NULL };
	static const char *const at_end[] = { "key", "auth", NULL };
	const char *end = name + len, *word = name;
	size_t n;

	if (strncmp(name, CLOUD, strlen(CLOUD)) == 0)
		return true;
	while (word < end) {
		n = strcspn(word, BETWEEN);
		if (n > (size_t)(end - word))
			n = (size_t)(end - word);
		if (is_one_of(word, n, anywhere) ||
		    (word + n == end && is_one_of(word, n, at_end)))
			return true;
		word += n + 1;
	}
	return false;
}

/*--- words ---------------------------------------------------------------*/

/* Where the password of an address begins, and its length; NULL: it has none. */
static const char *
find_password(const char *word, size_t *len)
{
	const char *host = strstr(word, "://"), *at, *colon;

	if (host == NULL)
		return NULL;
	host += strlen("://");
	at = memchr(host, '@', strcspn(host, "/?#"));
	colon = at != NULL ? memchr(host, ':', (size_t)(at - host)) : NULL;
	if (colon == NULL || colon + 1 == at)
		return NULL;
	*len = (size_t)(at - colon) - 1;
	return colon + 1;
}

/* NAME=VALUE, up to the end; false: it is none of a secret. */
static bool
put_named(FILE *to, const char *pair, size_t len)
{
	const char *equal = memchr(pair, '=', len);

	if (equal == NULL || equal + 1 == pair + len ||
	    !is_secret(pair, (size_t)(equal - pair)))
		return false;
	(void)fprintf(to, "%.*s=" HIDDEN, (int)(equal - pair), pair);
	return true;
}

/* ?NAME=VALUE&... of an address. */
static void
put_query(FILE *to, const char *query)
{
	size_t n;

	while (*query != '\0') {
		(void)fputc(*query++, to);
		n = strcspn(query, "&#");
		if (!put_named(to, query, n))
			(void)fwrite(query, 1, n, to);
		query += n;
	}
}

static void
put_address(FILE *to, const char *word)
{
	size_t len;
	const char *password = find_password(word, &len);

	if (password != NULL) {
		(void)fprintf(to, "%.*s" HIDDEN, (int)(password - word), word);
		word = password + len;
	}
	len = strcspn(word, "?");
	(void)fwrite(word, 1, len, to);
	put_query(to, word + len);
}

static void
put_word(FILE *to, const char *word)
{
	if (put_named(to, word, strlen(word)))
		return;
	if (strncasecmp(word, HEADER, strlen(HEADER)) == 0)
		(void)fprintf(to, "%.*s " HIDDEN, (int)strlen(HEADER), word);
	else if (strstr(word, "://") != NULL)
		put_address(to, word);
	else
		(void)fputs(word, to);
}

static char *
redact_word(const char *word)
{
	char *out = NULL;
	size_t size;
	FILE *to = open_memstream(&out, &size);

	if (to == NULL)
		say_no_memory();
	put_word(to, word);
	if (fclose(to) != 0)
		say_no_memory();
	return out;
}

/* Is the next word its value? */
static bool
wants_secret(const char *word)
{
	return word[0] == '-' && strchr(word, '=') == NULL &&
	    is_secret(word, strlen(word));
}

char *
redact_line(int nr, char *const words[])
{
	char **shown = calloc((size_t)nr + 1, sizeof *shown), *line;

	if (shown == NULL)
		say_no_memory();
	for (int i = 0; i < nr; i++) {
		bool is_value = i > 0 && words[i][0] != '-' &&
		    wants_secret(words[i - 1]);

		shown[i] = is_value ? strdup(HIDDEN) : redact_word(words[i]);
		if (shown[i] == NULL)
			say_no_memory();
	}
	line = shell_line(nr, shown);
	for (int i = 0; i < nr; i++)
		free(shown[i]);
	free(shown);
	return line;
}
