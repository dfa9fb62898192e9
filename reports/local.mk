# reports: from the store to what people and programs read.

libhost_la_SOURCES += \
	%D%/result.c %D%/result.h
# end of libhost_la_SOURCES
