/* SPDX-License-Identifier: Apache-2.0
 *
 * holder.c: a job that reads a data set once and then keeps it open: for
 * scenarios that need one in use.
 *
 *     holder URI [SHARE]
 *
 * It says "ready" when everything was read, and closes the data set when its
 * standard input ends.
 */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "destall.h"

static _Noreturn void
give_up(const struct ds_err *err)
{
	(void)fprintf(stderr, "holder: %s\n", err->text);
	exit(1);
}

int
main(int argc, char **argv)
{
	struct ds_data *data;
	struct ds_hub *hub;
	struct ds_item item;
	struct ds_err err;
	char byte;

	if (argc < 2)
		return 2;
	if (ds_connect(&hub, 0, &err) < 0 || ds_data_open(&data, hub, argv[1],
	    argc > 2 ? argv[2] : NULL, &err) < 0)
		give_up(&err);
	for (uint64_t i = 0; i < ds_data_count(data); i++) {
		if (ds_get(data, i, &item, &err) < 0)
			give_up(&err);
		ds_put(data, &item);
	}
	puts("ready");
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	ds_data_close(&data);
	ds_disconnect(&hub);
	return 0;
}
