/* SPDX-License-Identifier: Apache-2.0
 *
 * redact.h: command lines that are kept and shown, without the secrets in them.
 * Runs in the command only, which ends where there is no memory.
 *
 * A secret is what follows a name that says so (--api-key K, --token=T,
 * HF_TOKEN=T, wandb.api_key=K, AWS_ANYTHING=X, "Authorization: X"), and of an
 * address the password and what such a name is given in its query
 * (https://user:password@host/?X-Amz-Signature=S).  What a program is given
 * otherwise is not known to be one.
 */

#ifndef BASE_REDACT_H
#define BASE_REDACT_H

char *redact_line(int nr, char *const words[]);
	/* As shell_line() does, with *** in the place of secrets.  malloc'd. */

#endif
