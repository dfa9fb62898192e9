# tests: units (cmocka), scenarios (shell), faults, fuzz targets, benchmarks.
# A test exits 0 for passed, 77 for skipped (with the reason printed), 99 when
# the test itself is broken, anything else for failed.

AM_TESTS_ENVIRONMENT = \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	PYTHON='$(PYTHON)'; export PYTHON;
TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(SHELL)
EXTRA_DIST += %D%/lib.sh %D%/suite.sh
EXTRA_DIST += %D%/gen.sh %D%/bench/gen %D%/bench/likeness

if WITH_CMOCKA
# What every unit test is linked with: its own file, the check for leaks, and
# the whole program but main().
unit_cppflags = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS) $(JSON_CFLAGS) $(JPEG_CFLAGS)
unit_ldadd = libunit.la libhost.la $(CMOCKA_LIBS)
check_LTLIBRARIES += libunit.la
libunit_la_SOURCES = %D%/harness/leak.c %D%/harness/leak.h %D%/harness/unit.h
libunit_la_CPPFLAGS = $(unit_cppflags)

check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
unit_tests =

unit_tests += %D%/unit_hist
%C%_unit_hist_SOURCES = %D%/unit_hist.c
%C%_unit_hist_CPPFLAGS = $(unit_cppflags)
%C%_unit_hist_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_gen_picture
%C%_unit_gen_picture_SOURCES = %D%/unit_gen_picture.c
%C%_unit_gen_picture_CPPFLAGS = $(unit_cppflags)
%C%_unit_gen_picture_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_gen_plan
%C%_unit_gen_plan_SOURCES = %D%/unit_gen_plan.c
%C%_unit_gen_plan_CPPFLAGS = $(unit_cppflags)
%C%_unit_gen_plan_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_gen_tar
%C%_unit_gen_tar_SOURCES = %D%/unit_gen_tar.c
%C%_unit_gen_tar_CPPFLAGS = $(unit_cppflags)
%C%_unit_gen_tar_LDADD = $(unit_ldadd)
endif

scenarios = \
	%D%/b0200-gen.sh \
	%D%/b0201-gen-usage.sh \
	%D%/b0202-gen-tar.sh \
	%D%/n0200-gen-errno.sh \
	%D%/n0201-gen-full-disk.sh \
	%D%/n0202-gen-folder.sh \
	%D%/n0203-gen-lock.sh \
	%D%/n0204-gen-failing-calls.sh \
	%D%/x0200-gen-kill.sh \
	%D%/x0201-gen-signal.sh
# end of scenarios
dist_check_SCRIPTS += $(scenarios)
TESTS += $(scenarios)
