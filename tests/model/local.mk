# model: protocols in every order of events; explore.c is the search, program.c
# what is asked of it on the command line.
# model.c: leases of the cache, over the real cache/minio.c; world.c and
# rules_*.c are what is searched.  Run by the scenario c0402.
# stage.c: the stage, over the real stage/line.c and waits.c; stage_*.c are what
# is searched.  Run by the scenario l0702.

model_common = %D%/explore.c %D%/explore.h %D%/program.c %D%/program.h

check_PROGRAMS += %D%/model
%C%_model_SOURCES = %D%/model.c $(model_common) \
	%D%/world.c %D%/world.h %D%/rules_client.c %D%/rules_hub.c
%C%_model_LDADD = libhost.la

check_PROGRAMS += %D%/stage
%C%_stage_SOURCES = %D%/stage.c $(model_common) \
	%D%/stage_world.c %D%/stage_world.h \
	%D%/stage_normal.c %D%/stage_check.c \
	%D%/stage_taker.c %D%/stage_maker.c \
	%D%/stage_turn.c %D%/stage_turn.h %D%/stage_hub.c %D%/stage_time.c
%C%_stage_LDADD = libhost.la
