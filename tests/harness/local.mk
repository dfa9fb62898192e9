# harness: what tests stand on: the check for leaks, little programs that
# scenarios run, and objects that they preload (../shim).

EXTRA_DIST += %D%/cgroup.py %D%/mkpng.py

check_LTLIBRARIES += libleak.la
libleak_la_SOURCES = %D%/leak.c %D%/leak.h %D%/heap.c %D%/heap.h %D%/unit.h \
	%D%/folder.h %D%/tree.h

harness_programs = \
	%D%/closer \
	%D%/conduct \
	%D%/crowd \
	%D%/drill \
	%D%/fields \
	%D%/frames \
	%D%/holder \
	%D%/inside \
	%D%/cacheframes \
	%D%/stageframes \
	%D%/items \
	%D%/job \
	%D%/keeper \
	%D%/labeled \
	%D%/leaky \
	%D%/leaser \
	%D%/loads \
	%D%/mkset \
	%D%/stepper \
	%D%/observing \
	%D%/pixels \
	%D%/plain \
	%D%/raw \
	%D%/reader \
	%D%/sampler \
	%D%/slowstat \
	%D%/stagejob \
	%D%/starter \
	%D%/storm \
	%D%/streams \
	%D%/taker \
	%D%/touched \
	%D%/traced \
	%D%/victim \
	%D%/wrapped
# end of harness_programs
check_PROGRAMS += $(harness_programs)
%C%_closer_SOURCES = %D%/closer.c %D%/expected.h
%C%_closer_LDADD =
%C%_conduct_SOURCES = %D%/conduct.c
%C%_conduct_LDADD =
%C%_crowd_SOURCES = %D%/crowd.c %D%/expected.h
%C%_crowd_LDADD =
%C%_drill_LDADD = libloader.la
%C%_holder_LDADD = libguest.la
%C%_inside_SOURCES = %D%/inside.c %D%/expected.h
%C%_inside_LDADD =
%C%_cacheframes_SOURCES = %D%/cacheframes.c %D%/welcome.h
%C%_cacheframes_LDADD = libhost.la
%C%_stageframes_SOURCES = %D%/stageframes.c %D%/welcome.h
%C%_stageframes_LDADD = libhost.la
%C%_items_LDADD = libguest.la
%C%_job_SOURCES = %D%/job.c %D%/content.h
%C%_job_LDADD = libdestall.la
%C%_fields_SOURCES = %D%/fields.c %D%/fields.h %D%/fields_ask.c \
	%D%/fields_open.c %D%/fields_copies.c
%C%_fields_LDADD =
%C%_frames_SOURCES = %D%/frames.c %D%/packet.h
%C%_frames_LDADD = libhost.la
%C%_keeper_SOURCES = %D%/keeper.c %D%/fullresult.c %D%/fullresult.h
%C%_keeper_LDADD = libhost.la
%C%_labeled_LDADD = libloader.la
%C%_leaser_LDADD = libhost.la
%C%_leaky_LDADD = libleak.la
%C%_loads_LDADD = libloader.la
%C%_mkset_SOURCES = %D%/mkset.c %D%/content.h
%C%_mkset_LDADD = libguest.la
%C%_stepper_SOURCES = %D%/stepper.c
%C%_stepper_LDADD = libdestall.la
%C%_observing_LDADD = libhost.la
# What knows nothing of us, links nothing of ours.
%C%_plain_SOURCES = %D%/plain.c %D%/content.h
%C%_plain_LDADD =
%C%_pixels_SOURCES = %D%/pixels.c %D%/jpegs.c %D%/jpegs.h
%C%_pixels_LDADD = libloader.la
%C%_raw_SOURCES = %D%/raw.c %D%/welcome.h
%C%_raw_LDADD = libhost.la
%C%_reader_LDADD =
%C%_sampler_SOURCES = %D%/sampler.c %D%/content.h
%C%_sampler_LDADD = libdestall.la
%C%_slowstat_SOURCES = %D%/slowstat.c tests/shim/slow_state.h
%C%_slowstat_LDADD =
%C%_stagejob_SOURCES = %D%/stagejob.c %D%/stagejob.h %D%/stagejob_make.c \
	%D%/stagejob_keep.c %D%/payload.h
%C%_stagejob_LDADD = libloader.la
# A job: the library as jobs have it, and no wrapper that a test would kill.
%C%_starter_LDADD = libdestall.la
%C%_starter_LDFLAGS = $(AM_LDFLAGS) -no-install
%C%_storm_LDADD =
%C%_streams_LDADD =
%C%_taker_SOURCES = %D%/taker.c %D%/taker.h %D%/taker_hold.c
%C%_taker_LDADD = libloader.la
%C%_touched_SOURCES = %D%/touched.c %D%/expected.h
%C%_touched_LDADD =
%C%_traced_SOURCES = %D%/traced.c
%C%_traced_LDADD =
%C%_victim_LDADD =
%C%_wrapped_SOURCES = %D%/wrapped.c %D%/wrapped.h \
	%D%/wrapped_look.c \
	%D%/wrapped_change.c \
	%D%/wrapped_fail.c \
	%D%/asleep.h
%C%_wrapped_LDADD =

# A -rpath makes libtool build a real shared object of what is not installed.
# Shims are built without fortification and builtins, which would wrap what
# they wrap, and without a sanitizer, under which they are not used.
check_LTLIBRARIES += tests/shim/fail.la tests/shim/slow.la tests/shim/storm.la \
	tests/shim/clock.la
shim_cflags = -fvisibility=hidden $(WARN_CFLAGS) -fno-builtin \
	-U_FORTIFY_SOURCE
shim_ldflags = $(HARD_LDFLAGS) -module -avoid-version -rpath $(abs_builddir)
shim_common = tests/shim/shim.c tests/shim/shim.h
tests_shim_fail_la_SOURCES = $(shim_common) \
	tests/shim/fail.c tests/shim/fail.h \
	tests/shim/fail_memory.c tests/shim/fail_system.c
tests_shim_fail_la_CFLAGS = $(shim_cflags)
tests_shim_fail_la_LDFLAGS = $(shim_ldflags)
tests_shim_slow_la_SOURCES = $(shim_common) \
	tests/shim/slow.c tests/shim/slow.h \
	tests/shim/slow_calls.c tests/shim/slow_cached.c \
	tests/shim/slow_state.h \
	base/clock.c base/err.c base/must.c base/parse.c
tests_shim_slow_la_CFLAGS = $(shim_cflags)
tests_shim_slow_la_LDFLAGS = $(shim_ldflags)
tests_shim_storm_la_SOURCES = $(shim_common) tests/shim/storm.c
tests_shim_storm_la_CFLAGS = $(shim_cflags)
tests_shim_storm_la_LDFLAGS = $(shim_ldflags)
tests_shim_clock_la_SOURCES = $(shim_common) tests/shim/clock.c
tests_shim_clock_la_CFLAGS = $(shim_cflags)
tests_shim_clock_la_LDFLAGS = $(shim_ldflags)
