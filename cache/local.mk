# cache: source -> cache.

libguest_la_SOURCES += \
	%D%/messages.h \
	%D%/listing.c %D%/listing_check.c %D%/listing.h \
	%D%/source.c %D%/source.h \
	%D%/source_root.c %D%/source_root.h \
	%D%/source_file.c %D%/source_file.h \
	%D%/source_dir.c \
	%D%/index.c %D%/index.h \
	%D%/page.c %D%/page.h
# end of libguest_la_SOURCES

libhost_la_SOURCES += \
	%D%/minio.c %D%/minio.h \
	%D%/store.c %D%/store.h \
	%D%/store_tmpfs.c %D%/store_tmpfs.h \
	%D%/store_folder.c %D%/store_folder.h
# end of libhost_la_SOURCES
