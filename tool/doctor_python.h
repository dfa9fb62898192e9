/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_python.h: what tests want to reach of the Python checks.
 * Runs in the command only.
 */

#ifndef TOOL_DOCTOR_PYTHON_H
#define TOOL_DOCTOR_PYTHON_H

#include "tool/doctor.h"

#define PYTHON_VERSION	24u
#define PYTHON_TORCH	48u
#define PYTHON_WHERE	1024u

struct python_answer {
	char	version[PYTHON_VERSION];	/* "3.11.2" */
	char	torch[PYTHON_TORCH];		/* "2.1.0+cpu", "" for none */
	char	hook[PYTHON_VERSION];		/* of destall, "" for none */
	char	where[PYTHON_WHERE];		/* who it is: program and prefix */
};

int doctor_python_parse(const char *text, size_t len, struct python_answer *a);
	/* What an interpreter, or what calls itself one, has printed.
	 * -EBADMSG if it is not an answer to our question. */

#endif
