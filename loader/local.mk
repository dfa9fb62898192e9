# loader: from the cache to the job: the commands that start jobs.

# Where the preload object is.
AM_CPPFLAGS += -DPKGLIBDIR='"$(pkglibdir)"'

libhost_la_SOURCES += \
	%D%/object.c %D%/object.h \
	%D%/job_env.c %D%/job_env.h \
	%D%/follow.c %D%/follow.h \
	%D%/launch.c %D%/launch.h \
	%D%/wait_line.c %D%/wait_line.h \
	%D%/saved.c %D%/saved.h \
	%D%/cmd_job.c %D%/cmd_job.h \
	%D%/cmd_run.c \
	%D%/cmd_env.c \
	%D%/emulate_step.c %D%/emulate_job.c %D%/emulate_job.h \
	%D%/emulate_set.c \
	%D%/emulate.c %D%/emulate.h \
	%D%/emulate_print.c \
	%D%/emulate_json.c \
	%D%/cmd_emulate.c
# end of libhost_la_SOURCES
