/* SPDX-License-Identifier: Apache-2.0
 *
 * epoch_loop.c: a data loader's worker that does nothing but read, and knows
 * nothing of destall; for the benchmark tests/bench/minio.
 *
 *     epoch_loop LIST < COMMANDS
 *
 * LIST holds a path on each line.  Each line of standard input, "SEED PART
 * PARTS", is one epoch: a new random order of all files, of which this process
 * reads every PARTS-th.  The answer, on one line: when it began and ended, and
 * how many files and bytes there were.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUFFER	((size_t)1 << 20)

static char **paths;
static size_t nr_paths;
static char *buffer;

static _Noreturn void
give_up(const char *what)
{
	fprintf(stderr, "epoch_loop: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void
read_list(const char *name)
{
	FILE *f = fopen(name, "re");
	char *line = NULL;
	size_t room = 0, space = 0;
	ssize_t n;

	if (f == NULL)
		give_up(name);
	while ((n = getline(&line, &room, f)) > 0) {
		line[n - 1] = '\0';
		if (nr_paths == space) {
			space = 2 * space + 64;
			paths = realloc(paths, space * sizeof *paths);
		}
		if (paths == NULL || (paths[nr_paths++] = strdup(line)) == NULL)
			give_up("memory");
	}
	free(line);
	fclose(f);
}

/* splitmix64 */
static uint64_t
next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* From the same order as ever: all who have the seed get the same. */
static void
shuffle(uint64_t *order, uint64_t seed)
{
	for (size_t i = 0; i < nr_paths; i++)
		order[i] = i;
	for (size_t i = nr_paths; i > 1; i--) {
		uint64_t j = next_random(&seed) % i, moved = order[i - 1];

		order[i - 1] = order[j];
		order[j] = moved;
	}
}

static uint64_t
read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint64_t sum = 0;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) != 0)
		give_up(path);
	while ((n = read(fd, buffer, BUFFER)) > 0)
		sum += (uint64_t)n;
	if (n < 0 || sum != (uint64_t)st.st_size || close(fd) != 0)
		give_up(path);
	return sum;
}

static void
read_epoch(uint64_t *order, uint64_t seed, size_t part, size_t parts)
{
	uint64_t begin_ns, bytes = 0;
	size_t nr = 0;

	shuffle(order, seed);
	begin_ns = now_ns();
	for (size_t i = part; i < nr_paths; i += parts, nr++)
		bytes += read_file(paths[order[i]]);
	printf("{\"begin_ns\": %llu, \"end_ns\": %llu, \"items\": %zu, "
	    "\"bytes\": %llu}\n", (unsigned long long)begin_ns,
	    (unsigned long long)now_ns(), nr, (unsigned long long)bytes);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	unsigned long long seed;
	size_t part, parts;
	uint64_t *order;
	char line[128];

	if (argc != 2) {
		fprintf(stderr, "usage: epoch_loop LIST\n");
		return 2;
	}
	read_list(argv[1]);
	order = calloc(nr_paths + 1, sizeof *order);
	buffer = malloc(BUFFER);
	if (order == NULL || buffer == NULL)
		give_up("memory");
	while (fgets(line, sizeof line, stdin) != NULL) {
		if (sscanf(line, "%llu %zu %zu", &seed, &part, &parts) != 3 ||
		    parts == 0) {
			errno = EINVAL;
			give_up(line);
		}
		read_epoch(order, seed, part, parts);
	}
	return 0;
}
