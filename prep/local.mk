# prep: an encoded picture -> a sample.

libloader_la_SOURCES += \
	%D%/settings.c %D%/settings.h \
	%D%/cut.c %D%/cut.h \
	%D%/sniff.c %D%/sniff.h \
	%D%/picture.c %D%/picture.h %D%/format.h \
	%D%/jpeg.c %D%/jpeg.h \
	%D%/picture_jpeg.c \
	%D%/taps.c %D%/taps.h \
	%D%/steps.c %D%/steps.h \
	%D%/emit.c \
	%D%/kernels.c %D%/kernels.h \
	%D%/kernels_plain.c \
	%D%/kernels_avx2.c %D%/avx2.h \
	%D%/emit_avx2.c \
	%D%/kernels_neon.c \
	%D%/prep.c %D%/prep.h
# end of libloader_la_SOURCES
if WITH_PNG
libloader_la_SOURCES += %D%/picture_png.c
endif
