/* SPDX-License-Identifier: Apache-2.0
 *
 * sparse.c: a long row of words, and a set of words.
 * Runs in the command only.
 */

#include <config.h>

#include "loader/sparse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

#define CHUNK	512u	/* words: a page */
#define FIRST	1024u

/*--- the row -------------------------------------------------------------*/

static bool
grow_row(struct sparse *s, size_t need)
{
	size_t nr = s->nr > 0 ? s->nr : FIRST;
	uint64_t **chunks;

	while (nr <= need)
		nr *= 2;
	chunks = reallocarray(s->chunks, nr, sizeof *chunks);
	if (chunks == NULL)
		return false;
	memset(chunks + s->nr, 0, (nr - s->nr) * sizeof *chunks);
	s->chunks = chunks;
	s->nr = nr;
	return true;
}

uint64_t *
sparse_at(struct sparse *s, uint64_t i)
{
	size_t k = (size_t)(i / CHUNK);

	must(i < SPARSE_MAX);
	if (k >= s->nr && !grow_row(s, k))
		return NULL;
	if (s->chunks[k] == NULL)
		s->chunks[k] = calloc(CHUNK, sizeof **s->chunks);
	return s->chunks[k] != NULL ? &s->chunks[k][i % CHUNK] : NULL;
}

uint64_t
sparse_get(const struct sparse *s, uint64_t i)
{
	size_t k = (size_t)(i / CHUNK);

	return k < s->nr && s->chunks[k] != NULL ? s->chunks[k][i % CHUNK] : 0;
}

void
sparse_clear(struct sparse *s)
{
	for (size_t k = 0; k < s->nr; k++) {
		if (s->chunks[k] != NULL)
			memset(s->chunks[k], 0, CHUNK * sizeof **s->chunks);
	}
}

void
sparse_fini(struct sparse *s)
{
	for (size_t k = 0; k < s->nr; k++)
		free(s->chunks[k]);
	free(s->chunks);
	*s = (struct sparse){ .nr = 0 };
}

/*--- the set -------------------------------------------------------------*/

/* Where a word is, or would be.  Words are digests: their bits are mixed. */
static uint64_t *
find_word(uint64_t *words, size_t room, uint64_t word)
{
	size_t at = (size_t)word & (room - 1);

	while (words[at] != 0 && words[at] != word)
		at = (at + 1) & (room - 1);
	return &words[at];
}

static int
grow_set(struct word_set *s)
{
	size_t room = s->room > 0 ? 2 * s->room : FIRST;
	uint64_t *words = calloc(room, sizeof *words);

	if (words == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < s->room; i++) {
		if (s->words[i] != 0)
			*find_word(words, room, s->words[i]) = s->words[i];
	}
	free(s->words);
	s->words = words;
	s->room = room;
	return 0;
}

int
word_set_add(struct word_set *s, uint64_t word)
{
	uint64_t *at;

	if (word == 0)
		word = 1;
	if (s->nr >= s->room / 4 * 3 && grow_set(s) < 0)
		return -ENOMEM;
	at = find_word(s->words, s->room, word);
	if (*at == word)
		return 0;
	*at = word;
	s->nr++;
	return 1;
}

void
word_set_clear(struct word_set *s)
{
	if (s->nr > 0)
		memset(s->words, 0, s->room * sizeof *s->words);
	s->nr = 0;
}

void
word_set_fini(struct word_set *s)
{
	free(s->words);
	*s = (struct word_set){ .nr = 0 };
}
