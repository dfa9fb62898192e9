# prep: an encoded picture -> a sample.

libloader_la_SOURCES += \
	%D%/settings.c %D%/settings.h \
	%D%/cut.c %D%/cut.h \
	%D%/steps.c %D%/steps.h \
	%D%/taps.c %D%/taps.h \
	%D%/emit.c \
	%D%/kernels.c %D%/kernels.h \
	%D%/kernels_plain.c \
	%D%/kernels_avx2.c %D%/avx2.h \
	%D%/emit_avx2.c \
	%D%/kernels_neon.c
# end of libloader_la_SOURCES
