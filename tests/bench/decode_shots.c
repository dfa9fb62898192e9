/* SPDX-License-Identifier: Apache-2.0
 *
 * decode_shots.c: the pictures that decode_loop works on, read from their file
 * and into memory.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/decode_loop.h"

static void
read_bytes(struct shot *s, int folder, const char *name)
{
	struct stat st;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		give_up(name, strerror(errno));
	s->len = (size_t)st.st_size;
	s->bytes = malloc(s->len + 1);
	if (s->bytes == NULL || read(fd, s->bytes, s->len) != (ssize_t)s->len)
		give_up(name, "cannot be read");
	close(fd);
}

static void
read_line(struct shots *s, char *line, int folder)
{
	struct shot shot;
	struct ds_cut *c = &shot.cut;
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%u %u %u %u %u %u %u %u %u %n", &c->x, &c->y,
	    &c->width, &c->height, &c->to_width, &c->to_height, &c->at_x,
	    &c->at_y, &c->flip, &at) != 9 || line[at] == '\0')
		give_up(line, "not a shot");
	read_bytes(&shot, folder, line + at);
	s->shot = reallocarray(s->shot, s->nr + 1, sizeof shot);
	if (s->shot == NULL)
		give_up("shots", "out of memory");
	s->shot[s->nr++] = shot;
}

void
shots_read(struct shots *s, const char *file, const char *folder, size_t part,
    size_t parts)
{
	FILE *f = fopen(file, "re");
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *line = NULL;
	size_t room = 0;

	if (f == NULL)
		give_up(file, strerror(errno));
	if (fd < 0)
		give_up(folder, strerror(errno));
	for (size_t i = 0; getline(&line, &room, f) > 0; i++) {
		if (i % parts == part)
			read_line(s, line, fd);
	}
	if (s->nr == 0)
		give_up(file, "no shots");
	free(line);
	close(fd);
	fclose(f);
}

void
shots_free(struct shots *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->shot[i].bytes);
	free(s->shot);
}
