# launch: starts the commands of others, with what they need of ours.

# Where the preload object is, and the package for Python.
AM_CPPFLAGS += -DPKGLIBDIR='"$(pkglibdir)"' -DPYTHONDIR='"$(pythondir)"'

libhost_la_SOURCES += \
	%D%/part.c %D%/part.h \
	%D%/object.c %D%/object.h \
	%D%/hook.c %D%/hook.h \
	%D%/job_env.c %D%/job_env.h \
	%D%/follow.c %D%/follow.h \
	%D%/launch.c %D%/launch.h
# end of libhost_la_SOURCES
