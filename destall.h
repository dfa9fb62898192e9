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
 * Restrictions
 *   Handles belong to the process that made them.  A forked child connects and
 *   opens anew; with its parent's handles it can only read what was cached and
 *   close them.
 *   A handle may be used by several threads at once, but not while it is being
 *   closed.
 *   If the hub dies, nothing fails: gets are answered from what was cached and
 *   from storage.  To find a new hub, connect and open again.
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

/*--- the hub -------------------------------------------------------------*/

struct ds_hub;

#define DS_NO_START	1u	/* only a hub that is running already */

DS_EXPORT int ds_connect(struct ds_hub **out, unsigned flags,
    struct ds_err *err);
	/* Connects this process to the user's hub, starting one if there is
	 * none.  0; -ENOENT with DS_NO_START; -EPROTO for a hub of another
	 * version; else why it could not be started.  A job can always do
	 * without: pass NULL for the hub below. */

DS_EXPORT void ds_disconnect(struct ds_hub **hub);
	/* Data sets that were opened with it go on without. */

#ifdef __cplusplus
}
#endif

#endif /* DESTALL_H */
