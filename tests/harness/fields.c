/* SPDX-License-Identifier: Apache-2.0
 *
 * fields.c: a program that knows nothing of destall, and looks whether what it
 * has opened is told from the file itself.  Run by tests.
 *
 *     fields opens FILE     by every call and flag: number, flags, bytes, stat
 *     fields copies FILE    after dup, fork and exec, passed over a socket,
 *                           opened again by its number
 *     fields changes FILE   mode, access time and links change meanwhile
 *     fields closed FILE    opened as descriptors 0, 1 and 2
 *     fields check FD FILE  one that was inherited
 *     fields receive FD FILE   one that comes over this socket
 *
 * What is right is asked by system calls that no preloaded object sees.  By the
 * same it is proved that a descriptor is a substitute; with FIELDS_PLAIN in the
 * environment, that it is none.  Prints what it looked at; a difference is one
 * line, and exit status 1.
 */

#include <config.h>

#include "tests/harness/fields.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *fields_file;
const char *fields_self;
FILE *fields_report;
unsigned fields_looks;

void
fail_at(int line, const char *fmt, ...)
{
	int error = errno;
	va_list ap;

	va_start(ap, fmt);
	fprintf(fields_report, "DIFFERS (line %d): ", line);
	vfprintf(fields_report, fmt, ap);
	va_end(ap);
	fprintf(fields_report, " (errno %d)\n", error);
	exit(1);
}

/*--- low numbers ---------------------------------------------------------*/

/* The first open of the process, which attaches, is into the lowest number. */
static void
closed(void)
{
	fields_report = fdopen(fcntl(1, F_DUPFD_CLOEXEC, 50), "w");
	if (fields_report == NULL)
		exit(99);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	for (int fd = 0; fd < 6; fd++) {
		if (open(fields_file, O_RDONLY) != fd)
			FAIL("not descriptor %d", fd);
		ask_all("low", fd);
		same_bytes("low", fd);
	}
	close(1);
	close(4);
	if (open(fields_file, O_RDONLY) != 1 ||
	    open(fields_file, O_RDONLY) != 4)
		FAIL("not the lowest");
	fprintf(fields_report, "closed\n");
}

/*--- the whole -----------------------------------------------------------*/

static void
run(char **argv)
{
	int fd = argv[3] != NULL ? atoi(argv[2]) : -1;

	if (strcmp(argv[1], "opens") == 0) {
		fields_opens();
	} else if (strcmp(argv[1], "copies") == 0) {
		fields_copies();
	} else if (strcmp(argv[1], "changes") == 0) {
		fields_changes();
	} else if (strcmp(argv[1], "closed") == 0) {
		closed();
	} else if (strcmp(argv[1], "check") == 0) {
		ask_all("inherited", fd);
	} else if (strcmp(argv[1], "receive") == 0) {
		ask_all("received", fd = fields_receive(fd));
		same_bytes("received", fd);
	} else {
		exit(99);
	}
}

int
main(int argc, char **argv)
{
	if (argc < 3)
		return 99;
	fields_self = argv[0];
	fields_file = argv[argc - 1];
	fields_report = stdout;
	run(argv);
	fprintf(fields_report, "%u looks\n", fields_looks);
	fclose(fields_report);
	return 0;
}
