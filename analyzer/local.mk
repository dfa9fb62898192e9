# analyzer: from measurements to a result.

libhost_la_SOURCES += \
	%D%/interval.c %D%/interval.h \
	%D%/model.c %D%/model.h
# end of libhost_la_SOURCES
