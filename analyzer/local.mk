# analyzer: from measurements to a result.

libhost_la_SOURCES += \
	%D%/interval.c %D%/interval.h \
	%D%/model.c %D%/model.h \
	%D%/verdict.c %D%/verdict_say.c %D%/verdict.h \
	%D%/fixes_predict.c %D%/fixes_predict.h \
	%D%/fixes.c %D%/fixes.h
# end of libhost_la_SOURCES
