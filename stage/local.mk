# stage: several jobs, one decode: the rules, the hub's side, the client's side.

# What passes between them.
libloader_la_SOURCES += \
	%D%/messages.h \
	%D%/line.h \
	%D%/lag.c %D%/lag.h \
	%D%/board.h
# end of libloader_la_SOURCES

# The hub's side, from the rules to the messages.
libhost_la_SOURCES += \
	%D%/line.c \
	%D%/line_check.c \
	%D%/waits.c %D%/waits.h \
	%D%/slots.h \
	%D%/director.h
# end of libhost_la_SOURCES

# The client's side.
libloader_la_SOURCES += \
	%D%/maps.h \
	%D%/maps.c \
	%D%/written.c
# end of libloader_la_SOURCES
