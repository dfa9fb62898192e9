/* SPDX-License-Identifier: Apache-2.0
 *
 * stop.c: the signals that ask a command to stop.
 * Runs in the command only.
 */

#include <config.h>

#include "base/stop.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "base/io.h"
#include "base/must.h"

/* Those that ask a program to end, unless our parent had us ignore them, as
 * nohup does. */
static void
choose_signals(sigset_t *set)
{
	static const int asks[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction now;

	sigemptyset(set);
	for (unsigned i = 0; i < sizeof asks / sizeof asks[0]; i++) {
		if (sigaction(asks[i], NULL, &now) == 0 &&
		    now.sa_handler != SIG_IGN)
			sigaddset(set, asks[i]);
	}
}

int
stop_open(struct stop *s, struct ds_err *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t set;

	s->signal = 0;
	choose_signals(&set);
	must(pthread_sigmask(SIG_BLOCK, &set, &s->before) == 0);
	/* A limit on the size of files shall be an error, not the end. */
	must(sigaction(SIGXFSZ, &ignore, &s->too_large) == 0);
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->fd < 0)
		return err_errno(err, "cannot make a signalfd");
	return 0;
}

int
stop_look(struct stop *s)
{
	struct signalfd_siginfo info;

	if (s->signal != 0 || s->fd < 0 ||
	    read(s->fd, &info, sizeof info) != (ssize_t)sizeof info)
		return 0;
	s->signal = (int)info.ssi_signo;
	must(pthread_sigmask(SIG_SETMASK, &s->before, NULL) == 0);
	return s->signal;
}

int
stop_close(struct stop *s)
{
	(void)stop_look(s);
	io_close(&s->fd);
	must(sigaction(SIGXFSZ, &s->too_large, NULL) == 0);
	must(pthread_sigmask(SIG_SETMASK, &s->before, NULL) == 0);
	return s->signal;
}

void
stop_die(int signal_number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal_number);
	(void)signal(signal_number, SIG_DFL);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(signal_number);
}
