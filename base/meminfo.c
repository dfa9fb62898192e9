/* SPDX-License-Identifier: Apache-2.0
 *
 * meminfo.c: figures of /proc/meminfo.  Runs in every process.
 */

#include <config.h>

#include "base/meminfo.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"

int
meminfo_get(const char *text, const char *key, uint64_t *bytes)
{
	size_t len = strlen(key), digits;
	char number[32];

	for (; text != NULL; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (strncmp(text, key, len) != 0 || text[len] != ':')
			continue;
		text += len + 1;
		text += strspn(text, " ");
		digits = strspn(text, "0123456789");
		if (digits >= sizeof number ||
		    strncmp(text + digits, " kB", 3) != 0)
			return -EBADMSG;
		memcpy(number, text, digits);
		number[digits] = '\0';
		if (parse_count(number, 0, UINT64_MAX / 1024, bytes, NULL) < 0)
			return -EBADMSG;
		*bytes *= 1024;
		return 0;
	}
	return -ENOENT;
}
