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

unit_tests += %D%/unit_cgroup
%C%_unit_cgroup_SOURCES = %D%/unit_cgroup.c
%C%_unit_cgroup_CPPFLAGS = $(unit_cppflags)
%C%_unit_cgroup_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_doctor
%C%_unit_doctor_SOURCES = %D%/unit_doctor.c
%C%_unit_doctor_CPPFLAGS = $(unit_cppflags)
%C%_unit_doctor_LDADD = $(unit_ldadd)

unit_tests += %D%/unit_doctor_child
%C%_unit_doctor_child_SOURCES = %D%/unit_doctor_child.c
%C%_unit_doctor_child_CPPFLAGS = $(unit_cppflags)
%C%_unit_doctor_child_LDADD = $(unit_ldadd)
endif

scenarios =
scenarios += \
	%D%/b0300-doctor.sh \
	%D%/b0301-doctor-output.sh \
	%D%/b0302-doctor-python.sh \
	%D%/b0303-doctor-machine.sh \
	%D%/b0304-doctor-cuda.sh
# end of doctor's scenarios
dist_check_SCRIPTS += $(scenarios)
TESTS += $(scenarios)
