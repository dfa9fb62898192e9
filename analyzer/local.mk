# analyzer: from measurements to a result.

libhost_la_SOURCES += \
	%D%/interval.c %D%/interval.h
# end of libhost_la_SOURCES
