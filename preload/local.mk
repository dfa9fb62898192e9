# preload: cache -> programs that know nothing of it.

# libpreload: libguest, and what the preload object adds to it but for the
# wrappers themselves, so that unit tests can link it.
noinst_LTLIBRARIES += libpreload.la
libpreload_la_SOURCES =
libpreload_la_LIBADD = libguest.la

# From the program into us and back.
libpreload_la_SOURCES += \
	%D%/real.c %D%/real.h \
	%D%/guard.c %D%/guard.h \
	%D%/opens.c %D%/opens.h \
	%D%/trace.c %D%/trace.h \
	%D%/hush.c %D%/hush.h \
	%D%/word.c %D%/word.h \
	%D%/filter.c %D%/filter.h \
	%D%/attached.c %D%/attached.h \
	%D%/swap.c %D%/swap.h \
	%D%/bring.c %D%/bring.h \
	%D%/container.c %D%/container.h \
	%D%/origin.c %D%/origin.h
# end of libpreload_la_SOURCES

# The object that is preloaded.  Nobody but the loader of programs opens it, so
# it is found by its path, not by a version.
pkglib_LTLIBRARIES = libdestall-preload.la
libdestall_preload_la_SOURCES = \
	%D%/start.c %D%/start.h \
	%D%/wrap.h \
	%D%/consider.c %D%/consider.h \
	%D%/wrap_open.c \
	%D%/wrap_stdio.c \
	%D%/wrap_stat.c \
	%D%/wrap_attr.c \
	%D%/wrap_lock.c \
	%D%/wrap_copy.c \
	%D%/wrap_cwd.c
# end of libdestall_preload_la_SOURCES
libdestall_preload_la_LIBADD = libpreload.la
libdestall_preload_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-Wl,-z,now -Wl,--version-script=$(srcdir)/%D%/preload.map
EXTRA_libdestall_preload_la_DEPENDENCIES = %D%/preload.map
EXTRA_DIST += %D%/preload.map
