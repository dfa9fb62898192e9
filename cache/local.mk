# cache: source -> cache.

libguest_la_SOURCES += \
	%D%/messages.h \
	%D%/roots.c %D%/roots.h \
	%D%/listing.c %D%/listing_check.c %D%/listing.h \
	%D%/index.c %D%/index.h \
	%D%/index_find.c \
	%D%/page.c %D%/page.h \
	%D%/source.c %D%/source.h \
	%D%/source_root.c %D%/source_root.h \
	%D%/source_file.c %D%/source_file.h \
	%D%/source_dir.c \
	%D%/source_tar.c \
	%D%/tar.c %D%/tar.h \
	%D%/tar_pax.c %D%/tar_pax.h
# end of libguest_la_SOURCES

# What a job does with a data set, from the hit to the miss.
libguest_la_SOURCES += \
	%D%/data_settings.c \
	%D%/data_open.c \
	%D%/data.c %D%/data.h \
	%D%/view.c %D%/view.h \
	%D%/keep.c %D%/keep.h \
	%D%/item.c \
	%D%/fill.c \
	%D%/claim.c %D%/claim.h \
	%D%/ask.c %D%/ask.h
# end of libguest_la_SOURCES

libhost_la_SOURCES += \
	%D%/minio.c %D%/minio.h \
	%D%/store.c %D%/store.h \
	%D%/store_tmpfs.c %D%/store_tmpfs.h \
	%D%/store_folder.c %D%/store_folder.h \
	%D%/keeper_room.c \
	%D%/keeper_set.c \
	%D%/keeper_make.c %D%/keeper_make.h \
	%D%/keeper_adopt.c %D%/keeper_adopt.h \
	%D%/keeper_lease.c \
	%D%/keeper_publish.c \
	%D%/keeper_drop.c \
	%D%/keeper_audit.c \
	%D%/keeper_stat.c \
	%D%/keeper.c %D%/keeper.h \
	%D%/survey.c %D%/survey.h \
	%D%/survey_print.c \
	%D%/survey_json.c \
	%D%/warm.c %D%/warm.h \
	%D%/cmd_cache.c
# end of libhost_la_SOURCES
