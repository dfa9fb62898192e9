/* SPDX-License-Identifier: Apache-2.0
 *
 * starter.c: a job that connects to the hub through libdestall, and starts one
 * if it must:
 *
 *     starter [hold]
 *
 * Says "connected", or on standard error why not, and ends; with `hold` at the
 * end of its standard input.
 */

#include <stdio.h>
#include <string.h>

#include "destall.h"

int
main(int argc, char **argv)
{
	struct ds_hub *hub;
	struct ds_err err = { .text = "nothing" };

	if (ds_connect(&hub, 0, &err) < 0) {
		fprintf(stderr, "starter: %s\n", err.text);
		return 1;
	}
	if (err.code != 0 || strcmp(err.text, "nothing") != 0) {
		fprintf(stderr, "starter: connected, yet: %s\n", err.text);
		return 1;
	}
	printf("connected\n");
	fflush(stdout);
	if (argc > 1 && strcmp(argv[1], "hold") == 0)
		while (getchar() != EOF)
			continue;
	ds_disconnect(&hub);
	return 0;
}
