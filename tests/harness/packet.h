/* SPDX-License-Identifier: Apache-2.0
 *
 * packet.h: any bytes as a packet with descriptors, sent as a stranger would,
 * by no rule of ours.
 */

#ifndef HARNESS_PACKET_H
#define HARNESS_PACKET_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#define PACKET_FDS	253u		/* the most that Linux takes */

/* With fd so many times; as sendmsg(). */
static inline ssize_t
packet_send(int sock, const void *bytes, size_t len, int fd, unsigned nr_fds)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(PACKET_FDS * sizeof(int))];
	} control;
	struct iovec iov = { (void *)(uintptr_t)bytes, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (nr_fds > 0) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(nr_fds * sizeof(int));
		memset(&control, 0, msg.msg_controllen);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
		for (unsigned i = 0; i < nr_fds; i++)
			memcpy(CMSG_DATA(&control.head) + i * sizeof(int), &fd,
			    sizeof fd);
	}
	return sendmsg(sock, &msg, MSG_NOSIGNAL);
}

#endif
