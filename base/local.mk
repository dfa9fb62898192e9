# base: words everyone uses; knows nothing of data or stalls.

libdestall_la_LDFLAGS += -Wl,--version-script=$(srcdir)/%D%/libdestall.map
EXTRA_libdestall_la_DEPENDENCIES = %D%/libdestall.map
EXTRA_DIST += %D%/libdestall.map

libguest_la_SOURCES += \
	%D%/version.c \
	%D%/must.c %D%/must.h \
	%D%/err.c %D%/err.h \
	%D%/clock.c %D%/clock.h \
	%D%/futex.c %D%/futex.h \
	%D%/crash.c %D%/crash.h \
	%D%/cpus.c %D%/cpus.h \
	%D%/meminfo.c %D%/meminfo.h \
	%D%/hist.c %D%/hist.h \
	%D%/parse.c %D%/parse.h \
	%D%/text.c %D%/text.h \
	%D%/args.c %D%/args.h \
	%D%/rng.c %D%/rng.h \
	%D%/crc32c.c %D%/crc32c.h \
	%D%/hash.c %D%/hash.h \
	%D%/env.c %D%/env.h \
	%D%/io.c %D%/io.h \
	%D%/cgroup.c %D%/cgroup_limits.c %D%/cgroup.h \
	%D%/memfd.c %D%/memfd.h \
	%D%/segment.c %D%/segment.h \
	%D%/wire.c %D%/wire.h
# end of libguest_la_SOURCES

libhost_la_SOURCES += \
	%D%/term.c %D%/term.h \
	%D%/progress.c %D%/progress.h \
	%D%/say.c %D%/say.h \
	%D%/list.c %D%/list.h \
	%D%/median.c %D%/median.h \
	%D%/shell.c %D%/shell.h \
	%D%/redact.c %D%/redact.h \
	%D%/stop.c %D%/stop.h \
	%D%/outfile.c %D%/outfile.h \
	%D%/json.c %D%/json.h \
	%D%/command.c %D%/command.h
# end of libhost_la_SOURCES
