# probe: what tells of a job that is profiled, from inside it.

libguest_la_SOURCES += \
	%D%/schedule.h \
	%D%/journal.h
# end of libguest_la_SOURCES
