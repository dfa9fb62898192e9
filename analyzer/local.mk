# analyzer: from measurements to a result.

libhost_la_SOURCES += \
	%D%/interval.c %D%/interval.h \
	%D%/model.c %D%/model.h \
	%D%/verdict.c %D%/verdict_say.c %D%/verdict.h \
	%D%/fixes_predict.c %D%/fixes_predict.h \
	%D%/fixes.c %D%/fixes.h \
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
