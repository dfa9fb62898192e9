/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_cuda.c: the CUDA driver and CUPTI, opened at run time, each in a
 * child: a driver may hang or crash, and must never be initialised in a
 * process that goes on to do something else.  Runs in the command only.
 */

#include <config.h>

#include "tool/doctor_cuda.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "tool/doctor_child.h"

#define LIMIT_MS	10000u	/* many GPUs take seconds to wake up */
#define DRIVER		"libcuda.so.1"

#define MEANS_NO_GPU \
	"GPU idle time will not be in reports; everything else works"

/*--- what an error means -------------------------------------------------*/

const struct doctor_verdict *
doctor_cuda_verdict(int result)
{
	static const struct doctor_verdict no_device = {
		DOCTOR_MISSING, MEANS_NO_GPU,
		"show a GPU to this process: look at CUDA_VISIBLE_DEVICES, "
		"/dev/nvidia*, docker run --gpus all", false,
	}, stub = {
		DOCTOR_MISSING, MEANS_NO_GPU,
		"take the toolkit's stubs directory out of LD_LIBRARY_PATH, so "
		"that the driver's own library is found", false,
	}, mismatch = {
		DOCTOR_MISSING, MEANS_NO_GPU,
		"the kernel module and the library are of different versions: "
		"reboot, or install matching ones", false,
	}, other = {
		DOCTOR_MISSING, MEANS_NO_GPU,
		"run nvidia-smi, and look for NVRM in the kernel's log", false,
	};

	switch (result) {
	case 0:
		return &doctor_fine;
	case 100:		/* CUDA_ERROR_NO_DEVICE */
	case 101:		/* CUDA_ERROR_INVALID_DEVICE */
		return &no_device;
	case 34:		/* CUDA_ERROR_STUB_LIBRARY */
		return &stub;
	case 803:		/* CUDA_ERROR_SYSTEM_DRIVER_MISMATCH */
	case 804:		/* CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE */
		return &mismatch;
	default:
		return &other;
	}
}

/*--- the driver ----------------------------------------------------------*/

struct cuda_answer {
	int	opened;
	int	result;			/* of the first call that failed */
	int	version;		/* 12040 for 12.4 */
	int	devices;
	char	why[256];
};

static void
say_dlerror(char *text, size_t size)
{
	const char *why = dlerror();

	(void)snprintf(text, size, "%s", why != NULL ? why : "cannot be used");
}

static void
try_cuda(int out, void *arg)
{
	int (*init)(unsigned) = NULL;
	int (*get_version)(int *) = NULL, (*get_count)(int *) = NULL;
	struct cuda_answer a;
	void *lib;

	(void)arg;
	memset(&a, 0, sizeof a);
	/* The driver would load somebody's profiler into us. */
	unsetenv("CUDA_INJECTION64_PATH");
	lib = dlopen(DRIVER, RTLD_NOW | RTLD_LOCAL);
	if (lib != NULL) {
		*(void **)&init = dlsym(lib, "cuInit");
		*(void **)&get_version = dlsym(lib, "cuDriverGetVersion");
		*(void **)&get_count = dlsym(lib, "cuDeviceGetCount");
	}
	if (init != NULL && get_version != NULL && get_count != NULL) {
		a.opened = 1;
		(void)get_version(&a.version);
		a.result = init(0);
		if (a.result == 0)
			a.result = get_count(&a.devices);
	} else {
		say_dlerror(a.why, sizeof a.why);
	}
	(void)io_write_all(out, &a, sizeof a);
}

/* Returns whether there is a GPU. */
static bool
check_driver(struct doctor_report *r)
{
	static const struct doctor_verdict none = {
		DOCTOR_MISSING, MEANS_NO_GPU,
		"install the NVIDIA driver; in a container, docker run --gpus all",
		false,
	}, broken = {
		DOCTOR_MISSING, MEANS_NO_GPU,
		"run nvidia-smi, and look for NVRM in the kernel's log", false,
	};
	static const char name[] = "CUDA driver";
	struct cuda_answer a;
	struct child c;
	char why[128];

	child_ask(&c, try_cuda, NULL, LIMIT_MS);
	if (!child_answered(&c, &a, sizeof a)) {
		child_explain(&c, why, sizeof why);
		doctor_add(r, name, child_blame(&c, &broken), DRIVER " %s",
		    why);
		return false;
	}
	a.why[sizeof a.why - 1] = '\0';
	if (a.opened && a.result == 0 && a.devices <= 0)
		a.result = 100;
	if (!a.opened)
		doctor_add(r, name, &none, "%s", a.why);
	else if (a.result != 0)
		doctor_add(r, name, doctor_cuda_verdict(a.result),
		    "%d.%d, but error %d", a.version / 1000,
		    a.version % 1000 / 10, a.result);
	else
		doctor_add(r, name, &doctor_fine, "%d.%d, %d GPU%s",
		    a.version / 1000, a.version % 1000 / 10, a.devices,
		    a.devices == 1 ? "" : "s");
	return a.opened && a.result == 0;
}

/*--- CUPTI ---------------------------------------------------------------*/

struct cupti_answer {
	int		opened;
	int		result;
	uint32_t	version;
	char		from[256];
};

/* The first library that can be loaded; its name into from. */
static void *
open_cupti(char *from, size_t size)
{
	static const char *const names[] = {
		"libcupti.so.13", "libcupti.so.12", "libcupti.so.11",
	};
	static const char *const below[] = {
		"extras/CUPTI/lib64/libcupti.so", "lib64/libcupti.so",
		"lib/libcupti.so",
	};
	const char *const tops[] = {
		getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda",
	};
	void *lib = NULL;

	for (size_t i = 0; lib == NULL && i < 3; i++) {
		(void)snprintf(from, size, "%s", names[i]);
		lib = dlopen(from, RTLD_NOW | RTLD_LOCAL);
	}
	for (size_t i = 0; lib == NULL && i < 9; i++) {
		if (tops[i / 3] == NULL || tops[i / 3][0] != '/')
			continue;
		(void)snprintf(from, size, "%s/%s", tops[i / 3], below[i % 3]);
		lib = dlopen(from, RTLD_NOW | RTLD_LOCAL);
	}
	return lib;
}

static void
try_cupti(int out, void *arg)
{
	int (*get_version)(uint32_t *) = NULL;
	struct cupti_answer a;
	void *lib;

	(void)arg;
	memset(&a, 0, sizeof a);
	lib = open_cupti(a.from, sizeof a.from);
	if (lib != NULL)
		*(void **)&get_version = dlsym(lib, "cuptiGetVersion");
	if (get_version != NULL) {
		a.opened = 1;
		a.result = get_version(&a.version);
	}
	(void)io_write_all(out, &a, sizeof a);
}

static void
check_cupti(struct doctor_report *r, bool has_gpu)
{
	static const struct doctor_verdict none = {
		DOCTOR_MISSING, MEANS_NO_GPU,
		"install CUPTI (package cuda-cupti, or the CUDA toolkit); CUDA "
		"builds of PyTorch bring their own, found inside the job", false,
	}, idle = {
		DOCTOR_LIMITED, MEANS_NO_GPU,
		"a GPU and its driver, as above: without one it has nothing to "
		"watch", false,
	};
	struct cupti_answer a;
	struct child c;
	char why[128];

	child_ask(&c, try_cupti, NULL, LIMIT_MS);
	if (!child_answered(&c, &a, sizeof a)) {
		child_explain(&c, why, sizeof why);
		doctor_add(r, "CUPTI", child_blame(&c, &none), "libcupti %s",
		    why);
		return;
	}
	a.from[sizeof a.from - 1] = '\0';
	if (!a.opened || a.result != 0)
		doctor_add(r, "CUPTI", &none, a.opened ?
		    "the library refuses to tell its version" :
		    "no libcupti of CUDA 11, 12 or 13 was found");
	else
		doctor_add(r, "CUPTI", has_gpu ? &doctor_fine : &idle,
		    "%s, API %u%s", a.from, a.version,
		    has_gpu ? "" : ", but no GPU to watch");
}

void
doctor_cuda(struct doctor_report *r)
{
	check_cupti(r, check_driver(r));
}
