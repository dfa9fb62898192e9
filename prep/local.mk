# prep: an encoded picture -> a sample.

libloader_la_SOURCES += \
	%D%/settings.c %D%/settings.h \
	%D%/cut.c %D%/cut.h
# end of libloader_la_SOURCES
