/* SPDX-License-Identifier: Apache-2.0
 *
 * fields.h: the parts of the program in fields.c.  Run by tests.
 */

#ifndef TESTS_HARNESS_FIELDS_H
#define TESTS_HARNESS_FIELDS_H

#include <stdio.h>

extern const char *fields_file;		/* absolute */
extern const char *fields_self;
extern FILE *fields_report;
extern unsigned fields_looks;

#define FAIL(...) fail_at(__LINE__, __VA_ARGS__)

_Noreturn void fail_at(int line, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

int raw_open(const char *path, int flags);
	/* By a system call. */

void ask_all(const char *what, int fd);
	/* It is a substitute, or none, as it must; every field is right. */

void same_bytes(const char *what, int fd);
	/* And its offset is 0. */

void fields_opens(void);
void fields_copies(void);
void fields_changes(void);
int fields_receive(int socket);

#endif
