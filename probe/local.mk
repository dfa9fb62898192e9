# probe: what tells of a job that is profiled, from inside it.

libguest_la_SOURCES += \
	%D%/schedule.h \
	%D%/journal.h \
	%D%/session.c %D%/session.h \
	%D%/step.c \
	%D%/resident.c %D%/resident.h
# end of libguest_la_SOURCES
