/* SPDX-License-Identifier: Apache-2.0
 *
 * shell.c: command lines for people to copy.  Runs in the command only.
 */

#include <config.h>

#include "base/shell.h"

#include <stdlib.h>
#include <string.h>

#include "base/say.h"

/* The most that a word takes: each byte four, and quotes. */
static size_t
room_for(const char *word)
{
	return 4 * strlen(word) + 2;
}

static char *
reserve(size_t bytes)
{
	char *p = malloc(bytes + 1);

	if (p == NULL)
		say_no_memory();
	return p;
}

/* Behind what is at p; its end. */
static char *
put_quoted(char *p, const char *word)
{
	const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789/._-+,:@%=";

	if (word[0] != '\0' && word[strspn(word, plain)] == '\0')
		return stpcpy(p, word);
	*p++ = '\'';
	for (; *word != '\0'; word++) {
		if (*word == '\'')
			p = stpcpy(p, "'\\''");
		else
			*p++ = *word;
	}
	return stpcpy(p, "'");
}

char *
shell_quote(const char *word)
{
	char *out = reserve(room_for(word));

	(void)put_quoted(out, word);
	return out;
}

char *
shell_line(int nr, char *const words[])
{
	size_t size = 0;
	char *out, *p;

	for (int i = 0; i < nr; i++)
		size += room_for(words[i]) + 1;
	p = out = reserve(size);
	*p = '\0';
	for (int i = 0; i < nr; i++) {
		if (i > 0)
			*p++ = ' ';
		p = put_quoted(p, words[i]);
	}
	return out;
}
