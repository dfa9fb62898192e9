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

unit_tests += %D%/unit_err
%C%_unit_err_SOURCES = %D%/unit_err.c
%C%_unit_err_CPPFLAGS = $(unit_cppflags)
%C%_unit_err_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_clock
%C%_unit_clock_SOURCES = %D%/unit_clock.c
%C%_unit_clock_CPPFLAGS = $(unit_cppflags)
%C%_unit_clock_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_io
%C%_unit_io_SOURCES = %D%/unit_io.c
%C%_unit_io_CPPFLAGS = $(unit_cppflags)
%C%_unit_io_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_parse
%C%_unit_parse_SOURCES = %D%/unit_parse.c
%C%_unit_parse_CPPFLAGS = $(unit_cppflags)
%C%_unit_parse_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_crash
%C%_unit_crash_SOURCES = %D%/unit_crash.c
%C%_unit_crash_CPPFLAGS = $(unit_cppflags)
%C%_unit_crash_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_memfd
%C%_unit_memfd_SOURCES = %D%/unit_memfd.c
%C%_unit_memfd_CPPFLAGS = $(unit_cppflags)
%C%_unit_memfd_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_segment
%C%_unit_segment_SOURCES = %D%/unit_segment.c
%C%_unit_segment_CPPFLAGS = $(unit_cppflags)
%C%_unit_segment_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_wire
%C%_unit_wire_SOURCES = %D%/unit_wire.c
%C%_unit_wire_CPPFLAGS = $(unit_cppflags)
%C%_unit_wire_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_text
%C%_unit_text_SOURCES = %D%/unit_text.c
%C%_unit_text_CPPFLAGS = $(unit_cppflags)
%C%_unit_text_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_term
%C%_unit_term_SOURCES = %D%/unit_term.c
%C%_unit_term_CPPFLAGS = $(unit_cppflags)
%C%_unit_term_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_progress
%C%_unit_progress_SOURCES = %D%/unit_progress.c
%C%_unit_progress_CPPFLAGS = $(unit_cppflags)
%C%_unit_progress_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_json
%C%_unit_json_SOURCES = %D%/unit_json.c
%C%_unit_json_CPPFLAGS = $(unit_cppflags)
%C%_unit_json_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_args
%C%_unit_args_SOURCES = %D%/unit_args.c
%C%_unit_args_CPPFLAGS = $(unit_cppflags)
%C%_unit_args_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_say
%C%_unit_say_SOURCES = %D%/unit_say.c
%C%_unit_say_CPPFLAGS = $(unit_cppflags)
%C%_unit_say_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_command
%C%_unit_command_SOURCES = %D%/unit_command.c
%C%_unit_command_CPPFLAGS = $(unit_cppflags)
%C%_unit_command_LDADD = $(unit_ldadd)
endif

scenarios =
dist_check_SCRIPTS += $(scenarios)
TESTS += $(scenarios)

include %D%/fuzz/local.mk
