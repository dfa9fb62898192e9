/* SPDX-License-Identifier: Apache-2.0
 *
 * decode_bare.c: libjpeg-turbo alone, as fast as it goes: one object for all
 * pictures, bytes in memory, only the rows and the columns of the cut, and
 * nothing is kept of them.  The limit for whoever wants those pixels.
 *
 * The columns are those of the blocks that the cut touches, as
 * jpeg_crop_scanline() gives them; next to their edges the colours may differ
 * from a whole decode's, which a loader must not accept and so has to decode a
 * little more.
 */

#include <config.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "tests/bench/decode_loop.h"

#define ROWS		4	/* at a time: it gives at most two */
#define WIDTH_MAX	65536

static struct jpeg_decompress_struct cinfo;
static struct jpeg_error_mgr errors;
static J_COLOR_SPACE color;
static JSAMPLE *row[ROWS];

static _Noreturn void
fail(j_common_ptr c)
{
	char text[JMSG_LENGTH_MAX];

	c->err->format_message(c, text);
	give_up("libjpeg", text);
}

void
bare_begin(const char *name)
{
	JSAMPLE *memory = malloc((size_t)ROWS * WIDTH_MAX * 4);

	if (memory == NULL)
		give_up("bare", "out of memory");
	for (size_t i = 0; i < ROWS; i++)
		row[i] = memory + i * WIDTH_MAX * 4;
	color = strcmp(name, "rgbx") == 0 ? JCS_EXT_RGBX : JCS_RGB;
	cinfo.err = jpeg_std_error(&errors);
	errors.error_exit = fail;
	jpeg_create_decompress(&cinfo);
}

void
bare_end(void)
{
	jpeg_destroy_decompress(&cinfo);
	free(row[0]);
}

static void
start(const struct shot *s)
{
	JDIMENSION x = s->cut.x, width = s->cut.width;

	jpeg_mem_src(&cinfo, s->bytes, s->len);
	jpeg_read_header(&cinfo, TRUE);
	cinfo.out_color_space = color;
	jpeg_start_decompress(&cinfo);
	jpeg_crop_scanline(&cinfo, &x, &width);
	if (s->cut.y > 0)
		jpeg_skip_scanlines(&cinfo, s->cut.y);
}

void
bare_decode(const struct shot *s)
{
	start(s);
	while (cinfo.output_scanline < s->cut.y + s->cut.height)
		jpeg_read_scanlines(&cinfo, row, ROWS);
	jpeg_abort_decompress(&cinfo);
}

/* Where the method of a part is in the file of its library.  Each part begins
 * with start_pass() and then what we look for; the header that says so is not
 * installed everywhere. */
static unsigned long
place_of(const void *part)
{
	const char *method = ((const char *const *)part)[1];
	Dl_info info;

	if (dladdr(method, &info) == 0)
		give_up("dladdr", "a method that is in no library");
	return (unsigned long)(method - (const char *)info.dli_fbase);
}

void
bare_methods(const struct shot *s)
{
	start(s);
	printf("{\"entropy\": %lu, \"idct\": %lu, \"upsample\": %lu}\n",
	    place_of(cinfo.entropy), place_of(cinfo.idct),
	    place_of(cinfo.upsample));
	jpeg_abort_decompress(&cinfo);
}
