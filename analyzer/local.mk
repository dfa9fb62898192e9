# analyzer: from measurements to a result.

# The job, and what it tells.
libhost_la_SOURCES += \
	%D%/tree.c %D%/tree.h \
	%D%/folder_sweep.c \
	%D%/folder.c %D%/folder.h \
	%D%/storage.c %D%/storage.h \
	%D%/facts.c %D%/facts.h \
	%D%/marker.c %D%/marker.h
# end of libhost_la_SOURCES

# What the machine does meanwhile.
libhost_la_SOURCES += \
	%D%/obs_proc.c \
	%D%/obs_sched.c \
	%D%/obs_io.c \
	%D%/obs_cgroup.c \
	%D%/obs_psi.c \
	%D%/obs_block.c \
	%D%/obs_hub.c \
	%D%/obs_pfm.c \
	%D%/obs_pfm_names.c %D%/obs_pfm_names.h \
	%D%/observer.c %D%/observer.h \
	%D%/observe_watched.c \
	%D%/observe_glance.c \
	%D%/observe_sums.c \
	%D%/observe.c %D%/observe.h
# end of libhost_la_SOURCES

# From blocks to figures, from figures to a verdict.
libhost_la_SOURCES += \
	%D%/stolen.c %D%/stolen.h \
	%D%/work.c %D%/work.h \
	%D%/steps.c %D%/steps.h \
	%D%/measure.c %D%/measure.h \
	%D%/residency.c %D%/residency.h \
	%D%/found.c %D%/found.h \
	%D%/planner.c %D%/planner.h \
	%D%/interval.c %D%/interval.h \
	%D%/model.c %D%/model.h \
	%D%/chosen.c %D%/chosen.h \
	%D%/estimate.c %D%/estimate.h \
	%D%/live.c %D%/live.h \
	%D%/summary.c %D%/summary.h \
	%D%/verdict.c %D%/verdict_say.c %D%/verdict.h \
	%D%/fixes_predict.c %D%/fixes_predict.h \
	%D%/fixes.c %D%/fixes.h
# end of libhost_la_SOURCES

# The whole.
libhost_la_SOURCES += \
	%D%/conduct.c %D%/conduct_show.c %D%/conduct.h \
	%D%/runs.c %D%/runs.h \
	%D%/conclude.c %D%/conclude.h \
	%D%/cmd_profile.c
# end of libhost_la_SOURCES
