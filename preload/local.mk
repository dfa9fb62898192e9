# preload: cache -> programs that know nothing of it.

# libpreload: libguest, and what the preload object adds to it but for the
# wrappers themselves, so that unit tests can link it.
noinst_LTLIBRARIES += libpreload.la
libpreload_la_SOURCES = \
	%D%/container.c %D%/container.h \
	%D%/word.c %D%/word.h
# end of libpreload_la_SOURCES
libpreload_la_LIBADD = libguest.la
