/* SPDX-License-Identifier: Apache-2.0
 *
 * obs_pfm_names.c: libpfm4, which knows the hardware events of each processor by
 * name.  Opened at run time and closed again: counters are colour, nothing may
 * depend on them.  Runs in the command only.
 *
 * Its header brings a perf_event.h of its own, which does not go together with
 * that of Linux: here is the one, in obs_pfm.c the other.
 */

#include <config.h>

#include "analyzer/obs_pfm_names.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#ifndef WITH_PFM
#define WITH_PFM 0
#endif

#if WITH_PFM
#include <perfmon/pfmlib_perf_event.h>
#endif

/* PERF_TYPE_HARDWARE and its PERF_COUNT_HW_*, the same everywhere. */
static const struct pfm_code generic[PFM_EVENTS] = {
	[PFM_CYCLES] = { .config = 0 },
	[PFM_INSTRUCTIONS] = { .config = 1 },
	[PFM_LLC_REFERENCES] = { .config = 2 },
	[PFM_LLC_MISSES] = { .config = 3 },
};

#if WITH_PFM

#define LIBRARY		"libpfm.so.4"
#define NAMES		5u

/* The first one that the processor has.  What the kernel calls cache misses is
 * of another level on some: names that mean the last one go first. */
static const char *const names[PFM_EVENTS][NAMES] = {
	[PFM_CYCLES] = { "PERF_COUNT_HW_CPU_CYCLES", "UNHALTED_CORE_CYCLES",
	    "CYCLES_NOT_IN_HALT", "CPU_CYCLES" },
	[PFM_INSTRUCTIONS] = { "PERF_COUNT_HW_INSTRUCTIONS",
	    "INSTRUCTION_RETIRED", "RETIRED_INSTRUCTIONS", "INST_RETIRED" },
	[PFM_LLC_REFERENCES] = { "LONGEST_LAT_CACHE:REFERENCE",
	    "LL_CACHE_RD", "PERF_COUNT_HW_CACHE_REFERENCES" },
	[PFM_LLC_MISSES] = { "LONGEST_LAT_CACHE:MISS", "LL_CACHE_MISS_RD",
	    "PERF_COUNT_HW_CACHE_MISSES" },
};

typedef int initialize_f(void);
typedef void terminate_f(void);
typedef int encode_f(const char *name, int levels, int os, void *arg);

struct library {
	void		*handle;
	initialize_f	*initialize;
	terminate_f	*terminate;
	encode_f	*encode;
};

static int
open_library(struct library *l, struct ds_err *err)
{
	l->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (l->handle == NULL)
		return err_fail(err, -ENOENT, "libpfm4 is not installed");
	/* POSIX lets dlsym's pointer be one to a function. */
	*(void **)&l->initialize = dlsym(l->handle, "pfm_initialize");
	*(void **)&l->terminate = dlsym(l->handle, "pfm_terminate");
	*(void **)&l->encode = dlsym(l->handle, "pfm_get_os_event_encoding");
	if (l->initialize != NULL && l->terminate != NULL &&
	    l->encode != NULL && l->initialize() == PFM_SUCCESS)
		return 0;
	dlclose(l->handle);
	return err_fail(err, -ENOSYS, LIBRARY " does not work");
}

static bool
encode(const struct library *l, const char *name, struct pfm_code *out)
{
	struct perf_event_attr attr = { .size = sizeof attr };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof arg };

	if (l->encode(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg) !=
	    PFM_SUCCESS)
		return false;
	*out = (struct pfm_code){
		.type = attr.type, .config = attr.config,
		.config1 = attr.config1, .config2 = attr.config2,
	};
	return true;
}

static int
ask_library(struct pfm_code code[PFM_EVENTS], struct ds_err *err)
{
	struct library l = { 0 };
	int rc = open_library(&l, err);

	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < PFM_EVENTS; i++) {
		for (unsigned j = 0; j < NAMES && names[i][j] != NULL; j++) {
			if (encode(&l, names[i][j], &code[i]))
				break;
		}
	}
	l.terminate();
	dlclose(l.handle);
	return 0;
}

#else

static int
ask_library(struct pfm_code code[PFM_EVENTS], struct ds_err *err)
{
	(void)code;
	return err_fail(err, -ENOSYS, "built without libpfm4");
}

#endif

int
pfm_names_find(struct pfm_code code[PFM_EVENTS], struct ds_err *err)
{
	memcpy(code, generic, sizeof generic);
	return ask_library(code, err);
}
