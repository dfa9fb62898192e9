/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_kernel.c: which kernel features work here, each by trying it.
 * Runs in the command only.
 */

#include <config.h>

#include "tool/doctor_kernel.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/io.h"
#include "base/memfd.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define PROBE_SIZE	((size_t)64 << 10)
#define KERNEL_GOOD	"5.14"		/* MADV_POPULATE_WRITE */

/*--- version -------------------------------------------------------------*/

static void
check_version(struct doctor_report *r)
{
	static const struct doctor_verdict old = {
		DOCTOR_LIMITED,
		"older than " KERNEL_GOOD ", the first with all that is needed; "
		"the rows below tell what works",
		"boot a kernel of " KERNEL_GOOD " or later", false,
	};
	struct utsname u;

	if (uname(&u) != 0)
		doctor_add(r, "kernel", &old, "%s", doctor_errno(errno));
	else
		doctor_add(r, "kernel", doctor_version_below(u.release, 5, 14) ?
		    &old : &doctor_fine, "%s %s on %s", u.sysname, u.release,
		    u.machine);
}

/*--- memfd ---------------------------------------------------------------*/

/* 0 if a second writer is refused, -EPROTO if the kernel lets one in. */
static int
try_seals(struct ds_err *err)
{
	void *writer, *second;
	int fd, rc;

	fd = memfd_new("destall-doctor", PROBE_SIZE, err);
	if (fd < 0)
		return fd;
	rc = memfd_map_writer(fd, PROBE_SIZE, &writer, err);
	if (rc < 0)
		goto close_fd;
	rc = memfd_seal_new_writers(fd, err);
	if (rc == 0 && memfd_map_writer(fd, PROBE_SIZE, &second, NULL) == 0) {
		munmap(second, PROBE_SIZE);
		rc = err_fail(err, -EPROTO, "a second writer was let in");
	}
	munmap(writer, PROBE_SIZE);
close_fd:
	io_close(&fd);
	return rc;
}

static void
check_seals(struct doctor_report *r)
{
	static const struct doctor_verdict none = {
		DOCTOR_MISSING,
		"jobs cannot be given memory that they must not change, so "
		"there is no cache and no sharing",
		"boot a kernel of 5.1 or later; in a container allow "
		"memfd_create and fcntl in its seccomp profile", true,
	};
	struct ds_err err;
	int rc = try_seals(&err);

	if (rc < 0)
		doctor_add(r, "memfd seals", doctor_blame(-rc, &none), "%s",
		    err.text);
	else
		doctor_add(r, "memfd seals", &doctor_fine,
		    "a second writer is refused after F_SEAL_FUTURE_WRITE");
}

static void
check_noexec(struct doctor_report *r)
{
	static const struct doctor_verdict old = {
		DOCTOR_LIMITED,
		"shared memory works, but could be made executable",
		"boot a kernel of 6.3 or later", false,
	};
	int fd = memfd_create("destall-doctor", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	if (fd < 0)
		doctor_add(r, "memfd noexec", doctor_blame(errno, &old),
		    "MFD_NOEXEC_SEAL: %s", doctor_errno(errno));
	else
		doctor_add(r, "memfd noexec", &doctor_fine,
		    "MFD_NOEXEC_SEAL is known");
	io_close(&fd);
}

/*--- pidfd ---------------------------------------------------------------*/

static void
check_pidfd(struct doctor_report *r)
{
	static const struct doctor_verdict none = {
		DOCTOR_MISSING,
		"the death of a job cannot be seen safely, so there is no "
		"cache and no sharing",
		"boot a kernel of 5.3 or later; in a container allow "
		"pidfd_open in its seccomp profile", true,
	};
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (fd < 0)
		doctor_add(r, "pidfd", doctor_blame(errno, &none),
		    "pidfd_open: %s", doctor_errno(errno));
	else
		doctor_add(r, "pidfd", &doctor_fine, "pidfd_open works");
	io_close(&fd);
}

/* The pidfd of who is at the other end, or -errno. */
static int
get_peer_pidfd(void)
{
	int pair[2], fd = -1, rc = 0;
	socklen_t len = sizeof fd;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return -errno;
	if (getsockopt(pair[0], SOL_SOCKET, SO_PEERPIDFD, &fd, &len) != 0)
		rc = -errno;
	io_close(&pair[0]);
	io_close(&pair[1]);
	return rc < 0 ? rc : fd;
}

static void
check_peer_pidfd(struct doctor_report *r)
{
	static const struct doctor_verdict old = {
		DOCTOR_LIMITED,
		"the hub finds a client by its process number and compares "
		"twice; clients in other containers are refused",
		"boot a kernel of 6.5 or later", false,
	};
	int fd = get_peer_pidfd();

	if (fd < 0)
		doctor_add(r, "pidfd of a peer", doctor_blame(-fd, &old),
		    "SO_PEERPIDFD: %s", doctor_errno(-fd));
	else
		doctor_add(r, "pidfd of a peer", &doctor_fine,
		    "SO_PEERPIDFD works");
	io_close(&fd);
}

/*--- memory --------------------------------------------------------------*/

static int
try_populate(void)
{
	void *p = mmap(NULL, PROBE_SIZE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int rc = 0;

	if (p == MAP_FAILED)
		return -errno;
	if (madvise(p, PROBE_SIZE, MADV_POPULATE_WRITE) != 0)
		rc = -errno;
	munmap(p, PROBE_SIZE);
	return rc;
}

static void
check_populate(struct doctor_report *r)
{
	static const struct doctor_verdict old = {
		DOCTOR_LIMITED,
		"pages are made private by touching them one by one, and a lack "
		"of memory ends a job where it could be told",
		"boot a kernel of 5.14 or later", false,
	};
	int rc = try_populate();

	if (rc < 0)
		doctor_add(r, "populate write", doctor_blame(-rc, &old),
		    "MADV_POPULATE_WRITE: %s", doctor_errno(-rc));
	else
		doctor_add(r, "populate write", &doctor_fine,
		    "MADV_POPULATE_WRITE works");
}

void
doctor_kernel(struct doctor_report *r)
{
	check_version(r);
	check_seals(r);
	check_noexec(r);
	check_pidfd(r);
	check_peer_pidfd(r);
	check_populate(r);
	doctor_namespaces(r);
	doctor_eviction(r);
}
