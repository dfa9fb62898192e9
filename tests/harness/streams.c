/* SPDX-License-Identifier: Apache-2.0
 *
 * streams.c: reads files by the streams of C, in many ways, and knows nothing
 * of destall.  Run by tests.
 *
 *     streams FILE...    prints for each way a sum of what it got
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "streams: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t
add(uint64_t sum, int c)
{
	return (sum ^ (uint64_t)c) * UINT64_C(0x100000001b3);
}

static void
print(const char *how, uint64_t sum)
{
	printf("  %s %016llx\n", how, (unsigned long long)sum);
}

static uint64_t
sum_chars(FILE *f)
{
	uint64_t sum = 0;
	int c;

	while ((c = getc(f)) != EOF)
		sum = add(sum, c);
	if (ferror(f) || !feof(f))
		die("getc");
	return sum;
}

/* Every character is put back and taken again. */
static uint64_t
sum_put_back(FILE *f)
{
	uint64_t sum = 0;
	int c;

	while ((c = getc(f)) != EOF) {
		if (ungetc(c, f) != c || getc(f) != c)
			die("ungetc");
		sum = add(sum, c);
	}
	return sum;
}

static uint64_t
sum_blocks(FILE *f, size_t block)
{
	unsigned char buf[5000];
	uint64_t sum = 0;
	size_t n;

	while ((n = fread(buf, 1, block, f)) > 0)
		for (size_t i = 0; i < n; i++)
			sum = add(sum, buf[i]);
	return sum;
}

static uint64_t
sum_lines(FILE *f)
{
	uint64_t sum = 0;
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	while ((n = getline(&line, &room, f)) > 0)
		sum = add(sum, (int)(n & 0xffff));
	free(line);
	return sum;
}

/* Here and there, from the end to the beginning. */
static uint64_t
sum_seeks(FILE *f)
{
	uint64_t sum = 0;
	fpos_t pos;
	long at;

	if (fseek(f, 0, SEEK_END) != 0)
		die("fseek");
	at = ftell(f);
	sum = add(sum, (int)(at & 0xffffff));
	for (; at > 0; at -= at / 7 + 1) {
		if (fseek(f, at - 1, SEEK_SET) != 0 || fgetpos(f, &pos) != 0)
			die("fseek");
		sum = add(sum, getc(f));
		if (fsetpos(f, &pos) != 0)
			die("fsetpos");
		sum = add(sum, getc(f));
		if (ftell(f) != at)
			die("ftell");
	}
	return sum;
}

static FILE *
open_stream(const char *path, const char *mode)
{
	FILE *f = fopen(path, mode);

	if (f == NULL)
		die(path);
	return f;
}

static void
read_modes(const char *path)
{
	static const char *const modes[] = { "r", "rb", "re", "rm", "rbme",
	    "rc" };

	for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		FILE *f = open_stream(path, modes[i]);

		print(modes[i], sum_chars(f));
		rewind(f);
		print("put back", sum_put_back(f));
		rewind(f);
		print("seek", sum_seeks(f));
		rewind(f);
		print("lines", sum_lines(f));
		fclose(f);
	}
}

static void
read_buffers(const char *path)
{
	static const size_t blocks[] = { 1, 7, 512, 4096, 5000 };

	for (unsigned i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
		FILE *f = open_stream(path, "r");

		if (setvbuf(f, NULL, i == 0 ? _IONBF : _IOFBF, 3000) != 0)
			die("setvbuf");
		print("blocks", sum_blocks(f, blocks[i]));
		fclose(f);
	}
}

/* One stream goes from file to file, one is made of a descriptor, and one
 * changes its mode. */
static void
reopen(const char *path)
{
	FILE *f = open_stream("/dev/null", "r");
	int fd;

	for (int i = 0; i < 3; i++) {
		f = freopen(path, i == 1 ? "rm" : "r", f);
		if (f == NULL)
			die("freopen");
		print("freopen", sum_chars(f));
	}
	f = freopen(NULL, "rb", f);
	if (f == NULL)
		die("freopen of no path");
	print("again", sum_chars(f));
	fclose(f);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	f = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (f == NULL)
		die("fdopen");
	print("fdopen", sum_blocks(f, 1000));
	fclose(f);
}

/* What is left of a stream is read by its descriptor. */
static void
mix(const char *path)
{
	FILE *f = open_stream(path, "r");
	unsigned char buf[100];
	uint64_t sum = 0;
	ssize_t n;

	for (int i = 0; i < 10; i++)
		sum = add(sum, getc(f));
	if (fflush(f) != 0)
		die("fflush");
	n = read(fileno(f), buf, sizeof buf);
	for (ssize_t i = 0; i < n; i++)
		sum = add(sum, buf[i]);
	print("mixed", sum);
	if (fputc('x', f) != EOF)
		die("it can be written to");
	print("not written", (uint64_t)errno);
	fclose(f);
}

int
main(int argc, char **argv)
{
	FILE *f;

	for (int i = 1; i < argc; i++) {
		printf("%s\n", argv[i]);
		read_modes(argv[i]);
		read_buffers(argv[i]);
		reopen(argv[i]);
		mix(argv[i]);
	}
	f = freopen(argv[1], "r", stdin);
	if (f == NULL || fileno(f) != 0)
		die("standard input");
	print("standard input", sum_chars(stdin));
	if (fopen("/nowhere", "r") != NULL || errno != ENOENT)
		die("fopen of nothing");
	return 0;
}
