# loader: from the cache to the job: the native loader, and the commands that
# start jobs.

# The native loader, from the plan to the batch.
libloader_la_SOURCES += \
	%D%/loader_options.c %D%/loader_options.h \
	%D%/order.c %D%/order.h \
	%D%/plan.c %D%/plan.h \
	%D%/position.c %D%/position.h \
	%D%/batch.c %D%/batch.h \
	%D%/shelf.c %D%/shelf.h \
	%D%/pipeline.c %D%/pipeline.h \
	%D%/workers.c %D%/workers.h \
	%D%/bad.c %D%/bad.h \
	%D%/loader_place.c \
	%D%/loader_start.c \
	%D%/loader_open.c \
	%D%/loader_finish.c \
	%D%/share_key.c \
	%D%/share_pass.c \
	%D%/share_own.c \
	%D%/share_feed.c \
	%D%/share_prove.c \
	%D%/share_unit.c \
	%D%/share_join.c \
	%D%/share_next.c \
	%D%/share.c %D%/share.h \
	%D%/steer_tell.c \
	%D%/steer_set.c \
	%D%/steer_ring.c \
	%D%/steer_busy.c \
	%D%/steer_read.c \
	%D%/steer_files.c \
	%D%/steer_alone.c \
	%D%/steer_live.c \
	%D%/steer_follow.c \
	%D%/steer.c %D%/steer.h \
	%D%/loader_next.c \
	%D%/loader.c %D%/loader.h
# end of libloader_la_SOURCES

# Which samples there are, and which were given.
libloader_la_SOURCES += \
	%D%/lines.c %D%/lines.h \
	%D%/label_list.c %D%/label_list.h \
	%D%/labels.c %D%/labels.h \
	%D%/ledger_line.c %D%/ledger_line.h \
	%D%/ledger.c %D%/ledger.h \
	%D%/ledger_api.c
# end of libloader_la_SOURCES

libhost_la_SOURCES += \
	%D%/wait_line.c %D%/wait_line.h \
	%D%/saved.c %D%/saved.h \
	%D%/cmd_job.c %D%/cmd_job.h \
	%D%/cmd_run.c \
	%D%/cmd_env.c \
	%D%/emulate_step.c %D%/emulate_job.c %D%/emulate_job.h \
	%D%/emulate_save.c \
	%D%/emulate_set.c \
	%D%/emulate.c %D%/emulate.h \
	%D%/emulate_print.c \
	%D%/emulate_json.c \
	%D%/cmd_emulate.c \
	%D%/sparse.c %D%/sparse.h \
	%D%/ledger_span.c %D%/ledger_span.h \
	%D%/ledger_read.c %D%/ledger_read.h \
	%D%/ledger_compare.c %D%/ledger_compare.h \
	%D%/ledger_check.c %D%/ledger_check.h \
	%D%/cmd_ledger.c
# end of libhost_la_SOURCES
