/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_pfm.c: libpfm4, which knows the hardware events of each processor by
 * name.  Opened at run time, in a child: counters are colour, nothing may
 * depend on them.  Runs in the command only.
 *
 * Its header does not go together with linux/perf_event.h, so the three
 * functions that are used are declared here, as of libpfm 4.
 */

#include <config.h>

#include "tool/doctor_counters.h"

#include <dlfcn.h>
#include <string.h>

#include "base/io.h"
#include "tool/doctor_child.h"

#define LIMIT_MS	3000u
#define LIBRARY		"libpfm.so.4"
#define MAX_PMUS	2048		/* past the last of any version */

struct pfm_pmu {		/* pfm_pmu_info_t */
	const char	*name;
	const char	*text;
	size_t		size;	/* of this struct */
	int		pmu, type, events, first, encoding, counters, fixed;
	unsigned	is_present : 1;
	unsigned	others : 31;
};

typedef int pfm_initialize_f(void);
typedef int pfm_version_f(void);
typedef int pfm_pmu_f(int pmu, struct pfm_pmu *out);

struct pfm_answer {
	int	opened;
	int	error;			/* of pfm_initialize */
	int	version;
	char	pmus[256];		/* names of those present */
	char	why[256];		/* what dlopen says */
};

static void
list_pmus(pfm_pmu_f *get, struct pfm_answer *a)
{
	struct pfm_pmu pmu;
	size_t used = 0;

	for (int i = 0; i < MAX_PMUS; i++) {
		memset(&pmu, 0, sizeof pmu);
		pmu.size = sizeof pmu;
		if (get(i, &pmu) != 0 || !pmu.is_present || pmu.name == NULL ||
		    used + strlen(pmu.name) + 3 > sizeof a->pmus)
			continue;
		used += (size_t)snprintf(a->pmus + used, sizeof a->pmus - used,
		    "%s%s", used > 0 ? ", " : "", pmu.name);
	}
}

static void
try_pfm(int out, void *arg)
{
	pfm_initialize_f *initialize = NULL;
	pfm_version_f *version = NULL;
	pfm_pmu_f *pmu = NULL;
	struct pfm_answer a;
	const char *why;
	void *lib;

	(void)arg;
	memset(&a, 0, sizeof a);
	lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (lib != NULL) {
		/* POSIX lets dlsym's pointer be one to a function. */
		*(void **)&initialize = dlsym(lib, "pfm_initialize");
		*(void **)&version = dlsym(lib, "pfm_get_version");
		*(void **)&pmu = dlsym(lib, "pfm_get_pmu_info");
	}
	if (initialize != NULL && version != NULL && pmu != NULL) {
		a.opened = 1;
		a.error = initialize();
		a.version = version();
		if (a.error == 0)
			list_pmus(pmu, &a);
	} else {
		why = dlerror();
		(void)snprintf(a.why, sizeof a.why, "%s",
		    why != NULL ? why : LIBRARY " is not libpfm4");
	}
	(void)io_write_all(out, &a, sizeof a);
}

void
doctor_pfm(struct doctor_report *r)
{
	static const struct doctor_verdict none = {
		DOCTOR_MISSING,
		"hardware counters are limited to the kernel's generic ones; "
		"everything else works",
		"install libpfm4 (Debian, Ubuntu: apt-get install libpfm4)",
		false,
	};
	struct pfm_answer a;
	struct child c;
	char why[128];

	child_ask(&c, try_pfm, NULL, LIMIT_MS);
	if (!child_answered(&c, &a, sizeof a)) {
		child_explain(&c, why, sizeof why);
		doctor_add(r, "libpfm4", child_blame(&c, &none), LIBRARY " %s",
		    why);
		return;
	}
	a.pmus[sizeof a.pmus - 1] = a.why[sizeof a.why - 1] = '\0';
	if (!a.opened)
		doctor_add(r, "libpfm4", &none, "%s", a.why);
	else if (a.error != 0)
		doctor_add(r, "libpfm4", &none,
		    "pfm_initialize fails with %d", a.error);
	else
		doctor_add(r, "libpfm4", &doctor_fine,
		    "interface %d.%d, knows here: %s",
		    a.version >> 16 & 0xffff, a.version & 0xffff,
		    a.pmus[0] != '\0' ? a.pmus : "nothing");
}
