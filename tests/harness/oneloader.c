/* SPDX-License-Identifier: Apache-2.0
 *
 * oneloader.c: a folder of pictures, and a loader of it.
 */

#include <config.h>

#include "tests/harness/oneloader.h"

#include <unistd.h>

struct pictures files;
struct ds_data *data;
struct ds_loader *loader;
struct ds_err err;

int
oneloader_start(void **state, uint64_t nr)
{
	leak_before(state);
	alarm(100);
	if (pictures_make(&files, nr) != 0)
		return -1;
	return ds_data_open(&data, NULL, files.path, NULL, &err);
}

int
oneloader_stop(void **state)
{
	ds_loader_close(&loader);
	ds_data_close(&data);
	pictures_remove(&files);
	return leak_after(state);
}

void
oneloader_list(void)
{
	ds_loader_close(&loader);
	ds_data_close(&data);
	assert_int_equal(ds_data_open(&data, NULL, files.path, NULL, &err), 0);
}

void
oneloader_open(const char *options)
{
	ds_loader_close(&loader);
	assert_int_equal(ds_loader_open(&loader, data, &err), 0);
	loaded_set(loader, options);
}
