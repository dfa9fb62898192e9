/* SPDX-License-Identifier: Apache-2.0
 *
 * closer.c: a program that closes descriptors which it never opened, puts its
 * own under the same numbers, and goes on reading.  Run by tests.
 *
 *     closer HOW ROUNDS FILE...
 *
 * HOW is range (close_range), loop (close), from (closefrom) or daemon (all of
 * them, 0 to 2 too, in a process that has left its parents).  Whatever numbers
 * were open, sockets, pipes, files and folders of its own are there afterwards,
 * which nobody else may write to, read from, close or move.  Prints how many
 * numbers were replaced, and "right"; a daemon prints only that.
 */

#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/expected.h"

#define NUMBERS_MAX	64
#define PEERS		3500	/* no number that others use */

static int numbers[NUMBERS_MAX];	/* that were open, of somebody else */
static int nr_numbers;

/* One of ours under such a number. */
struct own {
	int	fd;
	int	peer;		/* what is written to fd comes out here; or -1 */
	struct stat st;
	off_t	at;
};

static struct own own[NUMBERS_MAX];

static void
find_numbers(int from)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	if (d == NULL)
		wrong("cannot be listed", "/proc/self/fd");
	nr_numbers = 0;
	while ((e = readdir(d)) != NULL) {
		int fd = atoi(e->d_name);

		if (e->d_name[0] != '.' && fd >= from && fd < PEERS &&
		    fd != dirfd(d) && nr_numbers < NUMBERS_MAX)
			numbers[nr_numbers++] = fd;
	}
	closedir(d);
}

static void
close_all(const char *how, int from)
{
	if (strcmp(how, "range") == 0) {
		if (close_range((unsigned)from, ~0u, 0) != 0)
			wrong("close_range", how);
	} else if (strcmp(how, "loop") == 0) {
		for (int fd = from; fd < 5000; fd++)
			close(fd);
	} else {
		closefrom(from);
	}
}

/*--- descriptors of our own ----------------------------------------------*/

static void
make_kind(struct own *o, int kind)
{
	int pair[2] = { -1, -1 }, both, rc = 0;

	switch (kind % 5) {
	case 0:
		rc = socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
		break;
	case 1:
		rc = socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
		break;
	case 2:
		rc = pipe(pair);
		both = pair[0];
		pair[0] = pair[1];
		pair[1] = both;
		break;
	case 3:
		pair[0] = open("own", O_RDWR | O_CREAT | O_APPEND, 0600);
		break;
	default:
		pair[0] = open("/", O_RDONLY | O_DIRECTORY);
		break;
	}
	if (rc < 0 || pair[0] < 0)
		wrong("cannot be made", "a descriptor");
	o->fd = pair[0];
	o->peer = pair[1];
}

/* Under the number of somebody else's, its peer out of the way. */
static void
place(struct own *o, int number, int kind)
{
	make_kind(o, kind);
	if (o->peer >= 0) {
		int peer = fcntl(o->peer, F_DUPFD, PEERS);

		close(o->peer);
		o->peer = peer;
	}
	if (o->fd != number) {
		if (dup2(o->fd, number) != number)
			wrong("dup2", "a descriptor");
		close(o->fd);
		o->fd = number;
	}
	if (fstat(o->fd, &o->st) != 0)
		wrong("fstat", "a descriptor");
	o->at = lseek(o->fd, 0, SEEK_CUR);
}

static void
check_own(const struct own *o)
{
	struct stat st;
	int waiting = 0;

	if (fstat(o->fd, &st) != 0 || st.st_dev != o->st.st_dev ||
	    st.st_ino != o->st.st_ino)
		wrong("it is another", "a descriptor");
	if (S_ISREG(st.st_mode) && st.st_size != 0)
		wrong("it was written to", "a file");
	if (!S_ISDIR(st.st_mode) && lseek(o->fd, 0, SEEK_CUR) != o->at)
		wrong("it was moved", "a file");
	if (o->peer >= 0 && (ioctl(o->peer, FIONREAD, &waiting) != 0 ||
	    waiting != 0))
		wrong("it was written to", "a socket");
}

/* Both ends work still. */
static void
use_own(const struct own *o)
{
	char byte = 'x';

	if (o->peer >= 0 && (write(o->fd, &byte, 1) != 1 ||
	    read(o->peer, &byte, 1) != 1))
		wrong("it is of no use any more", "a socket");
}

/*--- rounds --------------------------------------------------------------*/

static void
read_some(const struct expected *files, int nr)
{
	for (int i = 0; i < nr; i++)
		expected_check(&files[i]);
}

static int
close_and_read(const char *how, int from, const struct expected *files, int nr,
    int round)
{
	find_numbers(from);
	close_all(how, from);
	for (int i = 0; i < nr_numbers; i++)
		place(&own[i], numbers[i], round + i);
	read_some(files, nr);
	for (int i = 0; i < nr_numbers; i++)
		check_own(&own[i]);
	for (int i = 0; i < nr_numbers; i++)
		use_own(&own[i]);
	return nr_numbers;
}

static void
run_rounds(const char *how, int from, int rounds, const struct expected *files,
    int nr)
{
	int replaced = 0;

	read_some(files, 1);
	for (int round = 0; round < rounds; round++)
		replaced += close_and_read(how, from, files, nr, round);
	printf("replaced %d\n", replaced);
}

/* A daemon's parent is init; here it is us, who wait for its end. */
static void
run_daemon(int rounds, const struct expected *files, int nr)
{
	pid_t pid;
	int status;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || (pid = fork()) < 0)
		wrong("cannot be forked", "a daemon");
	if (pid == 0) {
		if (setsid() < 0 || fork() != 0)
			_exit(0);
		run_rounds("from", 0, rounds, files, nr);
		_exit(0);
	}
	while (wait(&status) > 0)
		if (status != 0)
			wrong("it failed", "a daemon");
}

int
main(int argc, char **argv)
{
	struct expected *files;
	int rounds;

	if (argc < 4)
		return 99;
	rounds = atoi(argv[2]);
	files = expected_all(argc - 3, argv + 3);
	if (strcmp(argv[1], "daemon") == 0)
		run_daemon(rounds, files, argc - 3);
	else
		run_rounds(argv[1], 3, rounds, files, argc - 3);
	printf("right\n");
	return 0;
}
