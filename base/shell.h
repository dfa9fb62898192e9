/* SPDX-License-Identifier: Apache-2.0
 *
 * shell.h: command lines for people to copy.  Runs in the command only, which ends
 * where there is no memory.
 */

#ifndef BASE_SHELL_H
#define BASE_SHELL_H

char *shell_quote(const char *word);
	/* As a shell reads it back: as it is, if nothing in it needs quotes.
	 * malloc'd. */
char *shell_line(int nr, char *const words[]);
	/* A command line of them.  malloc'd. */

#endif
