# tool: main, the table of commands, and the commands that belong to no flow.

destall_SOURCES += %D%/main.c

libhost_la_SOURCES += \
	%D%/commands.c %D%/commands.h \
	%D%/modules.c \
	%D%/observe_hub.c \
	%D%/cmd_doctor.c %D%/doctor.h \
	%D%/doctor_report.c \
	%D%/doctor_child.c %D%/doctor_child.h \
	%D%/doctor_kernel.c %D%/doctor_kernel.h \
	%D%/doctor_namespaces.c \
	%D%/doctor_eviction.c \
	%D%/doctor_limits.c \
	%D%/doctor_runtime.c \
	%D%/doctor_hub.c %D%/doctor_hub.h \
	%D%/doctor_counters.c %D%/doctor_counters.h \
	%D%/doctor_pfm.c \
	%D%/doctor_cuda.c %D%/doctor_cuda.h \
	%D%/doctor_python.c %D%/doctor_python.h \
	%D%/doctor_bench.c %D%/doctor_bench.h \
	%D%/doctor_build.c \
	%D%/cmd_top.c %D%/top.h \
	%D%/top_print.c \
	%D%/top_json.c \
	%D%/top_screen.c \
	%D%/cmd_demo.c %D%/demo.h \
	%D%/demo_group.c %D%/demo_group.h \
	%D%/demo_place.c %D%/demo_place.h \
	%D%/demo_data.c %D%/demo_data.h \
	%D%/demo_arrays.c %D%/demo_arrays.h \
	%D%/demo_python.c \
	%D%/demo_job.c %D%/demo_job.h \
	%D%/demo_profile.c %D%/demo_profile.h \
	%D%/demo_jobs.c %D%/demo_jobs.h \
	%D%/demo_cache.c %D%/demo_cache.h \
	%D%/demo_reader.c %D%/demo_reader.h \
	%D%/demo_read.c %D%/demo_read.h \
	%D%/demo_law.c %D%/demo_law.h \
	%D%/demo_check.c \
	%D%/demo_show_profile.c \
	%D%/demo_show_jobs.c \
	%D%/demo_show.c \
	%D%/demo_json.c \
	%D%/cmd_help.c \
	%D%/cmd_completion.c %D%/completion.c %D%/completion.h \
	%D%/cmd_gen.c \
	%D%/gen_rng.h \
	%D%/gen_texture.c %D%/gen_texture.h \
	%D%/gen_leaves.c %D%/gen_leaves.h \
	%D%/gen_picture.c %D%/gen_picture.h \
	%D%/gen_jpeg.c %D%/gen_jpeg.h \
	%D%/gen_plan.c %D%/gen_plan.h \
	%D%/gen_set.c %D%/gen_set.h \
	%D%/gen_scan.c %D%/gen_scan.h \
	%D%/gen_tar.c %D%/gen_tar.h \
	%D%/gen_threads.c %D%/gen_threads.h \
	%D%/gen_pool.c %D%/gen_pool.h \
	%D%/gen_run.c %D%/gen_run.h
# end of libhost_la_SOURCES

# Completions are printed by the program itself.
bashcompdir = $(datadir)/bash-completion/completions
zshcompdir = $(datadir)/zsh/site-functions
if CAN_RUN
nodist_bashcomp_DATA = %D%/completion.bash/destall
nodist_zshcomp_DATA = %D%/completion.zsh/_destall
CLEANFILES += $(nodist_bashcomp_DATA) $(nodist_zshcomp_DATA)

%D%/completion.bash/destall: destall$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && ./destall completion bash > $@.part && mv $@.part $@
%D%/completion.zsh/_destall: destall$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && ./destall completion zsh > $@.part && mv $@.part $@
endif
