/* SPDX-License-Identifier: Apache-2.0
 *
 * destall.h: the public interface of libdestall.
 *
 * The library is a guest in somebody's training job.  It never prints, never
 * exits, starts no thread before it is asked to, and leaves signals, standard
 * streams and the environment alone.
 *
 * Conventions
 *   A function returns >= 0 for success (0, a count, or a named outcome) or
 *   -errno, and then fills the caller's struct ds_err with one sentence: what
 *   failed, and why.  The struct is left alone on success; passing NULL is
 *   allowed.
 *   Handles are opaque; the function that frees one takes the address of the
 *   pointer and leaves NULL in it.
 *
 * C11, safe to include from C++.
 */

#ifndef DESTALL_H
#define DESTALL_H

#ifdef __cplusplus
extern "C" {
#endif

#define DS_EXPORT __attribute__((visibility("default")))

#define DS_ERR_TEXT 512

struct ds_err {
	int	code;			/* the -errno that was returned */
	char	text[DS_ERR_TEXT];	/* one sentence, always terminated */
};

DS_EXPORT const char *ds_version(void);
	/* The version of the library that is loaded, e.g. "0.1.0".
	 * Static memory: never freed. */

#ifdef __cplusplus
}
#endif

#endif /* DESTALL_H */
