/* SPDX-License-Identifier: Apache-2.0
 *
 * items.c: writes every item of a source into a folder, under its name, for
 * scenarios that compare them; and says what the listing left out.
 *
 *     items URI FOLDER
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "cache/source.h"

static _Noreturn void
give_up(const char *what)
{
	(void)fprintf(stderr, "%s\n", what);
	exit(1);
}

/* Opens a file for writing, its folders made. */
static int
make_file(int folder, const char *name)
{
	char path[LISTING_NAME_MAX + 1];

	for (const char *slash = strchr(name, '/'); slash != NULL;
	    slash = strchr(slash + 1, '/')) {
		size_t len = (size_t)(slash - name);

		memcpy(path, name, len);
		path[len] = '\0';
		if (mkdirat(folder, path, 0755) != 0 && errno != EEXIST)
			give_up(path);
	}
	return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
}

static void
write_item(struct source *s, const struct listing *l, uint64_t i, int folder)
{
	const struct listing_item *key = &l->items[i];
	char *bytes = malloc((size_t)key->size + 1);
	struct ds_err err;
	int fd;

	if (bytes == NULL)
		give_up("no memory");
	if (source_read(s, listing_name(l, i), key, bytes, &err) < 0)
		give_up(err.text);
	fd = make_file(folder, listing_name(l, i));
	if (fd < 0 || io_write_all(fd, bytes, (size_t)key->size) != 0)
		give_up(listing_name(l, i));
	close(fd);
	free(bytes);
}

int
main(int argc, char **argv)
{
	uint64_t total = 0;
	struct source *s;
	struct listing l;
	struct ds_err err;
	int fd, folder;

	if (argc != 3)
		give_up("usage: items URI FOLDER");
	if (source_open(&s, argv[1], &err) < 0)
		give_up(err.text);
	fd = source_list(s, &err);
	if (fd < 0 || listing_map(&l, fd, &err) < 0 ||
	    listing_check(&l, 0, l.head->nr_items, &total, &err) < 0)
		give_up(err.text);
	close(fd);
	folder = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		give_up(argv[2]);
	for (uint64_t i = 0; i < l.head->nr_items; i++)
		write_item(s, &l, i, folder);
	(void)printf("%llu items, %llu bytes, %llu members left out\n",
	    (unsigned long long)l.head->nr_items, (unsigned long long)total,
	    (unsigned long long)s->notes.members);
	close(folder);
	listing_unmap(&l);
	source_close(&s);
	return 0;
}
