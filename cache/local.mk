# cache: source -> cache.

libhost_la_SOURCES += \
	%D%/store.c %D%/store.h \
	%D%/store_tmpfs.c %D%/store_tmpfs.h \
	%D%/store_folder.c %D%/store_folder.h
# end of libhost_la_SOURCES
