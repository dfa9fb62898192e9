/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_build.c: how this destall was built, and which libraries it runs
 * with.  Runs in the command only.
 */

#include <config.h>

#include "tool/doctor.h"

#include <jansson.h>
#include <jpeglib.h>
#include <sqlite3.h>
#include <string.h>

/* configure leaves undefined what is not there. */
#ifndef WITH_PFM
#define WITH_PFM 0
#endif
#ifndef WITH_CUDA
#define WITH_CUDA 0
#endif
#ifndef WITH_CUPTI
#define WITH_CUPTI 0
#endif
#ifndef WITH_REDIS
#define WITH_REDIS 0
#endif
#ifndef WITH_CURL
#define WITH_CURL 0
#endif
#ifndef WITH_PNG
#define WITH_PNG 0
#endif
#ifndef WITH_CRASH_POINTS
#define WITH_CRASH_POINTS 0
#endif

#ifdef __clang__
#define COMPILER	"clang " __clang_version__
#else
#define COMPILER	"gcc " __VERSION__
#endif

#define AGAIN	", then configure and build again"

static const struct {
	const char *name;
	bool built;
	const char *gives;
	struct doctor_verdict without;
} parts[] = {
	{ "part: libpfm4", WITH_PFM, "hardware counters by name",
	  { DOCTOR_MISSING, "no hardware counters by name",
	    "install libpfm4-dev" AGAIN, false } },
	{ "part: CUDA", WITH_CUDA, "batches that stay on the GPU",
	  { DOCTOR_MISSING, "batches are copied to the GPU by each job",
	    "install the CUDA toolkit's headers" AGAIN, false } },
	{ "part: CUPTI", WITH_CUPTI, "GPU idle time",
	  { DOCTOR_MISSING, "no GPU idle time in reports",
	    "install the CUDA toolkit's headers" AGAIN, false } },
	{ "part: Redis", WITH_REDIS, "data sets in Redis or Valkey",
	  { DOCTOR_MISSING, "no data sets in Redis or Valkey",
	    "install libhiredis-dev" AGAIN, false } },
	{ "part: HTTP, S3", WITH_CURL, "data sets in object stores",
	  { DOCTOR_MISSING, "no data sets in object stores",
	    "install libcurl4-openssl-dev" AGAIN, false } },
	{ "part: PNG", WITH_PNG, "images in PNG",
	  { DOCTOR_MISSING, "images in PNG are left to the job",
	    "install libpng-dev" AGAIN, false } },
};

void
doctor_build(struct doctor_report *r)
{
	bool is_sanitized = strcmp(SANITIZERS, "no") != 0;

	doctor_add(r, "destall", &doctor_fine, "%s, built by %s%s%s",
	    PACKAGE_VERSION, COMPILER, is_sanitized ? ", sanitized: " : "",
	    is_sanitized ? SANITIZERS : "");
	doctor_add(r, "libraries", &doctor_fine,
	    "libjpeg-turbo %d.%d.%d (when built), SQLite %s, Jansson %s",
	    LIBJPEG_TURBO_VERSION_NUMBER / 1000000,
	    LIBJPEG_TURBO_VERSION_NUMBER / 1000 % 1000,
	    LIBJPEG_TURBO_VERSION_NUMBER % 1000, sqlite3_libversion(),
	    jansson_version_str());
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		doctor_add(r, parts[i].name, parts[i].built ? &doctor_fine :
		    &parts[i].without, "%s when built, for %s",
		    parts[i].built ? "found" : "not found", parts[i].gives);
	doctor_add(r, "crash points", &doctor_fine, WITH_CRASH_POINTS ?
	    "built in: this is a build for tests" :
	    "not built in, as it should be outside of tests");
}
