# model: the protocol of leases in every order of events, over the real
# cache/minio.c.  model.c is the program, explore.c the search, world.c and
# rules_*.c what is searched.  Run by the scenario c0400.

check_PROGRAMS += %D%/model
%C%_model_SOURCES = %D%/model.c %D%/explore.c %D%/explore.h \
	%D%/world.c %D%/world.h %D%/rules_client.c %D%/rules_hub.c
%C%_model_LDADD = libhost.la
