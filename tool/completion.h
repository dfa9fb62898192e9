/* SPDX-License-Identifier: Apache-2.0
 *
 * completion.h: shell completions, made from the table of commands.
 * Runs in the command only.
 */

#ifndef TOOL_COMPLETION_H
#define TOOL_COMPLETION_H

#include <stdio.h>

void completion_bash(FILE *out);
void completion_zsh(FILE *out);

#endif
