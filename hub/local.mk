# hub: the daemon, and the client's end of the wire.

# Where a job finds the program that is the hub.
AM_CPPFLAGS += -DBINDIR='"$(bindir)"'

libguest_la_SOURCES += \
	%D%/proto.h \
	%D%/control.c %D%/control.h \
	%D%/rundir.c %D%/rundir.h \
	%D%/said.c %D%/said.h \
	%D%/spawn.c %D%/spawn.h \
	%D%/start.c %D%/start_program.c %D%/start.h \
	%D%/plug.c %D%/plug.h \
	%D%/job.c %D%/job.h \
	%D%/link.c %D%/link.h \
	%D%/api.c %D%/api.h
# end of libguest_la_SOURCES

libhost_la_SOURCES += \
	%D%/loop.c %D%/loop.h \
	%D%/helper.c %D%/helper.h \
	%D%/log.c %D%/log.h \
	%D%/room.c %D%/room.h \
	%D%/lock.c %D%/lock.h \
	%D%/harden.c %D%/harden.h \
	%D%/door.c %D%/door.h \
	%D%/caller.c %D%/caller.h \
	%D%/client.c %D%/clients.c %D%/clients.h \
	%D%/hub.c %D%/hub_life.c %D%/hub_state.h %D%/hub.h \
	%D%/inquiry.c %D%/inquiry.h \
	%D%/cmd_serve.c
# end of libhost_la_SOURCES
