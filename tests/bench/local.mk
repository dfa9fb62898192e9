# bench: `make bench` runs each benchmark in its quick form, to see that they
# work; for figures run one by hand (README.md beside this file).  One that cannot
# be run here says why, and exits 77.

benches = \
	%D%/wire \
	%D%/gen \
	%D%/store \
	%D%/cache \
	%D%/hub \
	%D%/fill \
	%D%/footprint \
	%D%/preload \
	%D%/decode \
	%D%/handoff \
	%D%/sharing \
	%D%/import \
	%D%/pytorch \
	%D%/pytorch_disk \
	%D%/minio \
	%D%/truth \
	%D%/live
# end of benches
bench_programs = \
	%D%/wire_loop \
	%D%/store_loop \
	%D%/cache_loop \
	%D%/clock_loop \
	%D%/ping_loop \
	%D%/fill_loop \
	%D%/open_loop \
	%D%/start_loop \
	%D%/epoch_loop \
	%D%/decode_loop \
	%D%/handoff_loop
# end of bench_programs
check_PROGRAMS += $(bench_programs)
%C%_wire_loop_LDADD = libguest.la
%C%_store_loop_LDADD = libhost.la
%C%_cache_loop_LDADD = libguest.la
%C%_clock_loop_LDADD =
%C%_ping_loop_LDADD = libguest.la
%C%_fill_loop_LDADD = libdestall.la libguest.la
# Ours and libjpeg in one, not a shared library away: instructions are counted.
%C%_decode_loop_SOURCES = %D%/decode_loop.c %D%/decode_loop.h \
	%D%/decode_shots.c %D%/decode_bare.c %D%/decode_load.c
%C%_decode_loop_LDADD = libloader.la $(JPEG_LIBS)
%C%_handoff_loop_SOURCES = %D%/handoff_loop.c %D%/handoff_loop.h \
	%D%/handoff_jobs.c %D%/handoff_large.c
%C%_handoff_loop_LDADD = libloader.la
# These know nothing of us.
%C%_open_loop_LDADD =
%C%_start_loop_LDADD =
%C%_epoch_loop_LDADD =
EXTRA_DIST += $(benches) %D%/likeness %D%/photos %D%/bench.py %D%/service.py \
	%D%/truth_found %D%/truth_jobs.py %D%/truth_runs.py %D%/truth_judge.py \
	%D%/truth_test.py \
	%D%/groups.py %D%/torch_jobs.py %D%/pytorch_job.py \
	%D%/pytorch_counts/sitecustomize.py \
	%D%/decode_profile.py %D%/decode_torch.py %D%/test_bench.py %D%/README.md

bench-programs: $(bench_programs) tests/harness/mkset tests/harness/job \
	tests/shim/slow.la

bench: all
	@$(MAKE) $(AM_MAKEFLAGS) bench-programs
	@test -n '$(PYTHON)' || { echo 'make bench: configured without Python'; exit 1; }
	@for b in $(benches); do \
		top_builddir='$(abs_top_builddir)' PYTHONDONTWRITEBYTECODE=1 \
		    $(PYTHON) $(srcdir)/$$b --quick || test $$? -eq 77 || \
		    exit 1; \
		echo; \
	done

.PHONY: bench bench-programs
