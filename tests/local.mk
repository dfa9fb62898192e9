# tests: units (cmocka), scenarios (shell), faults, fuzz targets, benchmarks.
# A test exits 0 for passed, 77 for skipped (with the reason printed), 99 when
# the test itself is broken, anything else for failed.

AM_TESTS_ENVIRONMENT = \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	PYTHON='$(PYTHON)'; export PYTHON;
TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(SHELL)
EXTRA_DIST += %D%/lib.sh %D%/suite.sh %D%/harness/cgroup.py

leak_sources = %D%/harness/leak.c %D%/harness/leak.h \
	%D%/harness/heap.c %D%/harness/heap.h

if WITH_CMOCKA
# What every unit test is linked with: its own file, the check for leaks, and
# the whole program but main().
unit_cppflags = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS) $(JSON_CFLAGS) $(JPEG_CFLAGS)
unit_ldadd = libunit.la libhost.la $(CMOCKA_LIBS)
check_LTLIBRARIES += libunit.la
libunit_la_SOURCES = $(leak_sources) %D%/harness/unit.h
libunit_la_CPPFLAGS = $(unit_cppflags)

check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
unit_tests =

unit_tests += %D%/unit_hist
%C%_unit_hist_SOURCES = %D%/unit_hist.c
%C%_unit_hist_CPPFLAGS = $(unit_cppflags)
%C%_unit_hist_LDADD = $(unit_ldadd)
endif

# Programs that scenario tests run; none is a test by itself.
harness_programs = \
	%D%/harness/leaky \
	%D%/harness/reader \
	%D%/harness/slowstat \
	%D%/harness/storm \
	%D%/harness/victim
# end of harness_programs
check_PROGRAMS += $(harness_programs)
%C%_harness_leaky_SOURCES = %D%/harness/leaky.c $(leak_sources)
%C%_harness_leaky_CPPFLAGS = $(AM_CPPFLAGS)
%C%_harness_reader_SOURCES = %D%/harness/reader.c
%C%_harness_slowstat_SOURCES = %D%/harness/slowstat.c %D%/shim/slow_state.h
%C%_harness_storm_SOURCES = %D%/harness/storm.c
%C%_harness_victim_SOURCES = %D%/harness/victim.c

# Objects that tests preload (tests/lib.sh: shim NAME).  A -rpath makes libtool
# build a real shared object of what is not installed.  They are built without
# fortification and builtins, which would wrap what they wrap, and without a
# sanitizer, under which they are not used.
check_LTLIBRARIES += %D%/shim/fail.la %D%/shim/slow.la %D%/shim/storm.la
shim_cflags = -fvisibility=hidden $(WARN_CFLAGS) -fno-builtin \
	-U_FORTIFY_SOURCE
shim_ldflags = $(HARD_LDFLAGS) -module -avoid-version -rpath $(abs_builddir)
shim_common = %D%/shim/shim.c %D%/shim/shim.h
%C%_shim_fail_la_SOURCES = $(shim_common) \
	%D%/shim/fail.c %D%/shim/fail.h \
	%D%/shim/fail_memory.c %D%/shim/fail_system.c
%C%_shim_fail_la_CFLAGS = $(shim_cflags)
%C%_shim_fail_la_LDFLAGS = $(shim_ldflags)
%C%_shim_slow_la_SOURCES = $(shim_common) \
	%D%/shim/slow.c %D%/shim/slow.h \
	%D%/shim/slow_calls.c %D%/shim/slow_state.h \
	base/clock.c base/err.c base/must.c base/parse.c
%C%_shim_slow_la_CFLAGS = $(shim_cflags)
%C%_shim_slow_la_LDFLAGS = $(shim_ldflags)
%C%_shim_storm_la_SOURCES = $(shim_common) %D%/shim/storm.c
%C%_shim_storm_la_CFLAGS = $(shim_cflags)
%C%_shim_storm_la_LDFLAGS = $(shim_ldflags)

scenarios = \
	%D%/b0001-harness.sh \
	%D%/b0002-harness-fail.sh \
	%D%/b0003-harness-slow.sh \
	%D%/b0004-harness-storm.sh \
	%D%/b0005-harness-cgroup.sh \
	%D%/b0006-harness-soak.sh \
	%D%/b0090-bench.sh \
	%D%/n0001-failing-memory.sh \
	%D%/n0002-failing-output.sh \
	%D%/n0003-storm.sh
# end of scenarios
dist_check_SCRIPTS += $(scenarios)
TESTS += $(scenarios)

# Benchmarks: `make bench` runs each of them in its quick form, to see that
# they work; for figures run one by hand (tests/bench/README.md).
benches = \
	%D%/bench/wire
# end of benches
bench_programs = \
	%D%/bench/wire_loop
# end of bench_programs
check_PROGRAMS += $(bench_programs)
%C%_bench_wire_loop_SOURCES = %D%/bench/wire_loop.c
%C%_bench_wire_loop_LDADD = libguest.la
EXTRA_DIST += $(benches) %D%/bench/bench.py %D%/bench/test_bench.py \
	%D%/bench/README.md

bench-programs: $(bench_programs)

bench: all
	@$(MAKE) $(AM_MAKEFLAGS) bench-programs
	@test -n '$(PYTHON)' || { echo 'make bench: configured without Python'; exit 1; }
	@for b in $(benches); do \
		top_builddir='$(abs_top_builddir)' PYTHONDONTWRITEBYTECODE=1 \
		    $(PYTHON) $(srcdir)/$$b --quick || exit 1; \
		echo; \
	done

# What scenario tests need, without running any.
check-programs: $(check_LTLIBRARIES) $(check_PROGRAMS)

# Crash and fault tests over and over: tests/soak/run says how to choose.
soak: all
	@$(MAKE) $(AM_MAKEFLAGS) check-programs
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/%D%/soak/run

EXTRA_DIST += %D%/soak/run
.PHONY: bench bench-programs check-programs soak
