# tests: units (cmocka), scenarios (shell), faults, fuzz targets, benchmarks.
# A test exits 0 for passed, 77 for skipped (with the reason printed), 99 when
# the test itself is broken, anything else for failed.

AM_TESTS_ENVIRONMENT = \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	PYTHON='$(PYTHON)'; export PYTHON;
TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(SHELL)
EXTRA_DIST += %D%/lib.sh %D%/gen.sh %D%/hub.sh %D%/cache.sh %D%/cachecmd.sh \
	%D%/run.sh %D%/compat.sh %D%/preloaded.sh %D%/faults.sh %D%/pytest.sh \
	%D%/emulate.sh %D%/model.sh %D%/stage.sh %D%/examples.sh %D%/profile.sh %D%/profiled.sh \
	%D%/reports.sh \
	%D%/suite.sh %D%/check-all %D%/fresh-debian

include %D%/harness/local.mk

# A unit test is one file, linked with the check for leaks and the whole
# program but main().
if WITH_CMOCKA
LDADD = libleak.la libhost.la $(CMOCKA_LIBS)
unit_tests = \
	%D%/unit_err \
	%D%/unit_clock \
	%D%/unit_crash \
	%D%/unit_cpus \
	%D%/unit_meminfo \
	%D%/unit_hist \
	%D%/unit_parse \
	%D%/unit_rng \
	%D%/unit_crc32c \
	%D%/unit_env \
	%D%/unit_io \
	%D%/unit_memfd \
	%D%/unit_segment \
	%D%/unit_probe \
	%D%/unit_wire \
	%D%/unit_cgroup \
	%D%/unit_observe \
	%D%/unit_observe_real \
	%D%/unit_observe_pfm \
	%D%/unit_text \
	%D%/unit_term \
	%D%/unit_progress \
	%D%/unit_json \
	%D%/unit_args \
	%D%/unit_cut \
	%D%/unit_hash \
	%D%/unit_say \
	%D%/unit_redact \
	%D%/unit_command \
	%D%/unit_roots \
	%D%/unit_container \
	%D%/unit_filter \
	%D%/unit_listing \
	%D%/unit_loop \
	%D%/unit_helper \
	%D%/unit_log \
	%D%/unit_rundir \
	%D%/unit_word \
	%D%/unit_job \
	%D%/unit_hub \
	%D%/unit_clients \
	%D%/unit_link_hello \
	%D%/unit_link \
	%D%/unit_link_program \
	%D%/unit_spawn \
	%D%/unit_source_dir \
	%D%/unit_source_tar \
	%D%/unit_store \
	%D%/unit_minio \
	%D%/unit_index \
	%D%/unit_index_find \
	%D%/unit_page \
	%D%/unit_race \
	%D%/unit_data \
	%D%/unit_get \
	%D%/unit_get_threads \
	%D%/unit_object \
	%D%/unit_board \
	%D%/unit_slots \
	%D%/unit_slots_churn \
	%D%/unit_job_env \
	%D%/unit_wait_line \
	%D%/unit_saved \
	%D%/unit_line \
	%D%/unit_line_places \
	%D%/unit_line_check \
	%D%/unit_waits \
	%D%/unit_look \
	%D%/unit_lag \
	%D%/unit_labels \
	%D%/unit_ledger \
	%D%/unit_order \
	%D%/unit_plan \
	%D%/unit_pipeline \
	%D%/unit_loader \
	%D%/unit_loader_threads \
	%D%/unit_loader_own \
	%D%/unit_steer \
	%D%/unit_loader_cached \
	%D%/unit_share \
	%D%/unit_share_own \
	%D%/unit_share_prove \
	%D%/unit_maps \
	%D%/unit_maps_written \
	%D%/unit_emulate_touch \
	%D%/unit_guard \
	%D%/unit_trace \
	%D%/unit_picture \
	%D%/unit_taps \
	%D%/unit_kernels \
	%D%/unit_picture_bad \
	%D%/unit_prep \
	%D%/unit_gen_picture \
	%D%/unit_gen_plan \
	%D%/unit_gen_tar \
	%D%/unit_gen_threads \
	%D%/unit_demo_group \
	%D%/unit_demo_law \
	%D%/unit_tree \
	%D%/unit_folder \
	%D%/unit_storage \
	%D%/unit_facts \
	%D%/unit_marker \
	%D%/unit_measure \
	%D%/unit_residency \
	%D%/unit_planner \
	%D%/unit_interval \
	%D%/unit_model \
	%D%/unit_stolen \
	%D%/unit_estimate \
	%D%/unit_live \
	%D%/unit_summary \
	%D%/unit_verdict \
	%D%/unit_fixes \
	%D%/unit_doctor \
	%D%/unit_doctor_child \
	%D%/unit_director \
	%D%/unit_director_lease \
	%D%/unit_director_lies \
	%D%/unit_director_wait \
	%D%/unit_stage \
	%D%/unit_stage_others \
	%D%/unit_stage_jobs \
	%D%/unit_runstore \
	%D%/unit_runstore_steps \
	%D%/unit_result_json \
	%D%/unit_result_gate
# end of unit_tests
if WITH_PNG
unit_tests += %D%/unit_picture_png
%C%_unit_picture_png_LDADD = $(LDADD) $(PNG_LIBS)
endif
preload_ldadd = libleak.la libpreload.la $(CMOCKA_LIBS)
%C%_unit_container_LDADD = $(preload_ldadd)
%C%_unit_filter_LDADD = $(preload_ldadd)
%C%_unit_word_LDADD = $(preload_ldadd)
jpegs = %D%/harness/jpegs.c %D%/harness/jpegs.h
%C%_unit_picture_SOURCES = %D%/unit_picture.c $(jpegs)
%C%_unit_picture_bad_SOURCES = %D%/unit_picture_bad.c $(jpegs)
%C%_unit_prep_SOURCES = %D%/unit_prep.c $(jpegs)
fake_hub = %D%/harness/fakehub.c %D%/harness/fakehub.h
%C%_unit_data_SOURCES = %D%/unit_data.c $(fake_hub)
%C%_unit_get_SOURCES = %D%/unit_get.c $(fake_hub)
%C%_unit_get_threads_SOURCES = %D%/unit_get_threads.c $(fake_hub)
pictures = %D%/harness/pictures.c %D%/harness/pictures.h %D%/harness/loaded.h
oneloader = $(pictures) %D%/harness/oneloader.c %D%/harness/oneloader.h
%C%_unit_loader_SOURCES = %D%/unit_loader.c $(oneloader)
%C%_unit_loader_threads_SOURCES = %D%/unit_loader_threads.c $(oneloader)
%C%_unit_probe_SOURCES = %D%/unit_probe.c %D%/harness/conducted.h
%C%_unit_steer_SOURCES = %D%/unit_steer.c %D%/harness/conducted.h $(oneloader)
%C%_unit_loader_own_SOURCES = %D%/unit_loader_own.c $(oneloader)
%C%_unit_loader_cached_SOURCES = %D%/unit_loader_cached.c $(pictures) $(fake_hub)
%C%_unit_guard_LDADD = libleak.la libpreload.la $(CMOCKA_LIBS)
%C%_unit_trace_LDADD = $(preload_ldadd)
check_PROGRAMS += $(unit_tests)
slotshub = %D%/harness/slotshub.c %D%/harness/slotshub.h
%C%_unit_slots_SOURCES = %D%/unit_slots.c %D%/harness/asleep.h $(slotshub)
%C%_unit_slots_churn_SOURCES = %D%/unit_slots_churn.c $(slotshub)
%C%_unit_wire_SOURCES = %D%/unit_wire.c %D%/harness/packet.h
linkhub = %D%/harness/linkhub.c %D%/harness/linkhub.h
%C%_unit_link_hello_SOURCES = %D%/unit_link_hello.c $(linkhub)
%C%_unit_link_SOURCES = %D%/unit_link.c $(linkhub)
%C%_unit_link_program_SOURCES = %D%/unit_link_program.c $(linkhub)
testhub = %D%/harness/testhub.c %D%/harness/testhub.h
%C%_unit_hub_SOURCES = %D%/unit_hub.c $(testhub)
%C%_unit_clients_SOURCES = %D%/unit_clients.c $(testhub) \
	%D%/harness/packet.h
guest = $(testhub) %D%/harness/guest.c %D%/harness/guest.h \
	%D%/harness/guests.c %D%/harness/guests.h
%C%_unit_director_SOURCES = %D%/unit_director.c $(guest)
%C%_unit_director_lease_SOURCES = %D%/unit_director_lease.c $(guest)
%C%_unit_director_lies_SOURCES = %D%/unit_director_lies.c $(guest)
%C%_unit_director_wait_SOURCES = %D%/unit_director_wait.c $(guest)
testline = %D%/harness/testline.c %D%/harness/testline.h
%C%_unit_line_SOURCES = %D%/unit_line.c $(testline)
%C%_unit_line_places_SOURCES = %D%/unit_line_places.c $(testline)
%C%_unit_line_check_SOURCES = %D%/unit_line_check.c $(testline)
mapslot = %D%/harness/mapslot.c %D%/harness/mapslot.h
%C%_unit_maps_SOURCES = %D%/unit_maps.c $(mapslot)
%C%_unit_maps_written_SOURCES = %D%/unit_maps_written.c $(mapslot)
stagehub = $(testhub) %D%/harness/stagehub.c %D%/harness/stagehub.h \
	%D%/harness/payload.h
parties = $(stagehub) %D%/harness/parties.c %D%/harness/parties.h
%C%_unit_stage_SOURCES = %D%/unit_stage.c $(parties)
%C%_unit_stage_others_SOURCES = %D%/unit_stage_others.c $(parties)
sharers = $(stagehub) $(pictures) %D%/harness/sharers.c %D%/harness/sharers.h
%C%_unit_share_SOURCES = %D%/unit_share.c $(sharers)
%C%_unit_share_own_SOURCES = %D%/unit_share_own.c $(sharers)
%C%_unit_share_prove_SOURCES = %D%/unit_share_prove.c $(sharers)
%C%_unit_stage_jobs_SOURCES = %D%/unit_stage_jobs.c $(stagehub)
fullresult = %D%/harness/fullresult.c %D%/harness/fullresult.h
%C%_unit_runstore_SOURCES = %D%/unit_runstore.c $(fullresult)
%C%_unit_runstore_steps_SOURCES = %D%/unit_runstore_steps.c $(fullresult)
%C%_unit_result_json_SOURCES = %D%/unit_result_json.c $(fullresult)
told = %D%/harness/told.h
%C%_unit_facts_SOURCES = %D%/unit_facts.c $(told)
%C%_unit_measure_SOURCES = %D%/unit_measure.c $(told)
%C%_unit_residency_SOURCES = %D%/unit_residency.c $(told)
%C%_unit_stolen_SOURCES = %D%/unit_stolen.c $(told)
%C%_unit_estimate_SOURCES = %D%/unit_estimate.c $(told)
%C%_unit_live_SOURCES = %D%/unit_live.c $(told)
%C%_unit_summary_SOURCES = %D%/unit_summary.c $(told)
TESTS += $(unit_tests)
endif

scenarios = \
	%D%/a0001-includes.sh \
	%D%/a0002-magics.sh \
	%D%/a0003-exports.sh \
	%D%/a0004-man.sh \
	%D%/a0005-heads.sh \
	%D%/a0006-hardening.sh \
	%D%/a0007-points.sh \
	%D%/a0008-dist.sh \
	%D%/a0009-shell.sh \
	%D%/a0010-docs.sh \
	%D%/a0011-preload.sh \
	%D%/b0001-harness.sh \
	%D%/b0002-harness-fail.sh \
	%D%/b0003-harness-slow.sh \
	%D%/b0004-harness-storm.sh \
	%D%/b0005-harness-cgroup.sh \
	%D%/b0006-harness-soak.sh \
	%D%/b0090-bench.sh \
	%D%/b0091-truth.sh \
	%D%/b0101-command.sh \
	%D%/b0102-completion.sh \
	%D%/b0103-install.sh \
	%D%/b0200-gen.sh \
	%D%/b0201-gen-usage.sh \
	%D%/b0202-gen-tar.sh \
	%D%/b0300-doctor.sh \
	%D%/b0301-doctor-output.sh \
	%D%/b0302-doctor-python.sh \
	%D%/b0303-doctor-machine.sh \
	%D%/b0304-doctor-cuda.sh \
	%D%/c0400-serve.sh \
	%D%/c0401-serve-usage.sh \
	%D%/c0402-model.sh \
	%D%/c0403-example.sh \
	%D%/c0404-source-tar.sh \
	%D%/c0405-start.sh \
	%D%/c0410-minio.sh \
	%D%/c0411-inodes.sh \
	%D%/c0501-cache-stat.sh \
	%D%/c0502-cache-warm.sh \
	%D%/c0503-cache-drop.sh \
	%D%/c0601-demo.sh \
	%D%/c0700-run.sh \
	%D%/c0701-env.sh \
	%D%/c0702-run-signals.sh \
	%D%/c0710-programs.sh \
	%D%/c0711-languages.sh \
	%D%/c0712-stat.sh \
	%D%/c0713-closers.sh \
	%D%/c0714-untouched.sh \
	%D%/c0715-pictures.sh \
	%D%/c0716-torch.sh \
	%D%/c0717-paths.sh \
	%D%/c0720-law.sh \
	%D%/d0600-parity.sh \
	%D%/d0601-laws.sh \
	%D%/d0602-loader-torch.sh \
	%D%/d0603-pictures.sh \
	%D%/p0800-python-parts.sh \
	%D%/p0801-python-sharing.sh \
	%D%/p0802-python-run.sh \
	%D%/p0803-python-install.sh \
	%D%/p0804-python-behaviour.sh \
	%D%/p0805-python-foreign.sh \
	%D%/p0806-python-drills.sh \
	%D%/p0807-python-examples.sh \
	%D%/p0808-python-streams.sh \
	%D%/p0810-python-cache.sh \
	%D%/p0900-python-profile-parts.sh \
	%D%/l0601-ledger.sh \
	%D%/l0602-emulate.sh \
	%D%/l0603-emulate-resume.sh \
	%D%/l0703-emulate-shared.sh \
	%D%/l0705-example.sh \
	%D%/l0604-example.sh \
	%D%/l0701-stagejob.sh \
	%D%/l0710-stage-jobs.sh \
	%D%/l0711-stage-join.sh \
	%D%/l0712-stage-batches.sh \
	%D%/l0713-stage-hold.sh \
	%D%/l0714-stage-streams.sh \
	%D%/l0704-top.sh \
	%D%/l0702-model.sh \
	%D%/m0910-observe.sh \
	%D%/m0911-observe-profile.sh \
	%D%/m0920-steer.sh \
	%D%/m0921-steer-faults.sh \
	%D%/m0922-trace.sh \
	%D%/m0930-profile-loaders.sh \
	%D%/m0931-profile-pictures.sh \
	%D%/m0932-profile-starts.sh \
	%D%/m0933-profile-ranks.sh \
	%D%/m0934-profile-loops.sh \
	%D%/m0935-profile-whole.sh \
	%D%/m0936-profile-saves.sh \
	%D%/m0937-profile-status.sh \
	%D%/m0938-profile-signals.sh \
	%D%/m0939-profile-figures.sh \
	%D%/r0900-runs.sh \
	%D%/r0901-report.sh \
	%D%/n0001-failing-memory.sh \
	%D%/n0002-failing-output.sh \
	%D%/n0003-storm.sh \
	%D%/n0200-gen-errno.sh \
	%D%/n0201-gen-full-disk.sh \
	%D%/n0202-gen-folder.sh \
	%D%/n0203-gen-lock.sh \
	%D%/n0204-gen-failing-calls.sh \
	%D%/n0205-gen-moved.sh \
	%D%/n0400-hub-clients.sh \
	%D%/n0401-hub-hostile.sh \
	%D%/n0402-hub-lost.sh \
	%D%/n0403-hub-storm.sh \
	%D%/n0404-cache-hostile.sh \
	%D%/n0405-failing-hub.sh \
	%D%/n0406-failing-job.sh \
	%D%/n0407-cache-input.sh \
	%D%/n0408-cache-settings.sh \
	%D%/n0409-cache-time.sh \
	%D%/n0410-cache-bad-files.sh \
	%D%/n0411-cache-small-shm.sh \
	%D%/n0412-cache-groups.sh \
	%D%/n0413-broken-control.sh \
	%D%/n0414-cache-nofile.sh \
	%D%/n0415-failing-points.sh \
	%D%/n0420-cache-midway.sh \
	%D%/n0421-cache-relisted.sh \
	%D%/n0601-pictures.sh \
	%D%/n0602-label-files.sh \
	%D%/n0603-emulate-bad.sh \
	%D%/n0604-emulate-faults.sh \
	%D%/n0605-pictures-memory.sh \
	%D%/n0606-loader-memory.sh \
	%D%/n0700-cache-full.sh \
	%D%/n0701-files-change.sh \
	%D%/n0702-no-hub.sh \
	%D%/n0703-failing-calls.sh \
	%D%/n0704-storm.sh \
	%D%/n0705-bad-files.sh \
	%D%/n0706-preload-inside.sh \
	%D%/n0707-preload-moved.sh \
	%D%/n0708-preload-archives.sh \
	%D%/n0709-run-limits.sh \
	%D%/n0801-stage-hostile.sh \
	%D%/n0810-stage-stop.sh \
	%D%/n0811-stage-workers.sh \
	%D%/n0812-stage-slow.sh \
	%D%/n0813-stage-memory.sh \
	%D%/n0820-stage-hub-stop.sh \
	%D%/n0821-stage-changed.sh \
	%D%/n0822-stage-ulimit.sh \
	%D%/n0823-stage-closers.sh \
	%D%/n0824-stage-ledger.sh \
	%D%/n0825-stage-storm.sh \
	%D%/n0826-stage-calls.sh \
	%D%/n0827-stage-group.sh \
	%D%/n0900-store-damaged.sh \
	%D%/n0900-store-disk.sh \
	%D%/n0900-store-locked.sh \
	%D%/n0900-store-calls.sh \
	%D%/n0930-profile-faults.sh \
	%D%/n0931-profile-full.sh \
	%D%/n0932-profile-others.sh \
	%D%/n0933-profile-store.sh \
	%D%/x0200-gen-kill.sh \
	%D%/x0201-gen-signal.sh \
	%D%/x0400-hub-kill.sh \
	%D%/x0401-hub-lost.sh \
	%D%/x0402-hub-again.sh \
	%D%/x0403-hub-oom.sh \
	%D%/x0404-churn.sh \
	%D%/x0405-pid-reuse.sh \
	%D%/x0406-zombie.sh \
	%D%/x0407-namespaces.sh \
	%D%/x0408-starter-kill.sh \
	%D%/x0409-start-kill.sh \
	%D%/x0500-insert-kill.sh \
	%D%/x0501-all-killed.sh \
	%D%/x0502-orphan-writer.sh \
	%D%/x0503-exec-segv.sh \
	%D%/x0504-insert-signal.sh \
	%D%/x0603-emulate-kill.sh \
	%D%/x0604-emulate-hub.sh \
	%D%/x0700-hub-killed.sh \
	%D%/x0701-reader-killed.sh \
	%D%/x0801-stage-points.sh \
	%D%/x0802-stage-kill.sh \
	%D%/x0803-stage-all-killed.sh \
	%D%/x0804-stage-hub.sh \
	%D%/x0805-stage-zombie.sh \
	%D%/x0806-stage-kept.sh \
	%D%/x0900-store-kill.sh
# end of scenarios
dist_check_SCRIPTS += $(scenarios)
TESTS += $(scenarios)

include %D%/python/local.mk
include %D%/compat/local.mk
include %D%/model/local.mk
include %D%/fuzz/local.mk
include %D%/bench/local.mk

# What scenario tests need, without running any.
check-programs: $(check_LTLIBRARIES) $(check_PROGRAMS)

# Crash and fault tests over and over: tests/soak/run says how to choose.
soak: all
	@$(MAKE) $(AM_MAKEFLAGS) check-programs
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/%D%/soak/run
EXTRA_DIST += %D%/soak/run

# The builds that do not fit into CI's time.
check-all:
	$(srcdir)/%D%/check-all

.PHONY: check-programs soak check-all
