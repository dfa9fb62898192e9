# stage: several jobs, one decode: the rules, the hub's side, the client's side.

# What passes between them.
libloader_la_SOURCES += \
	%D%/messages.h \
	%D%/line.h \
	%D%/lag.h \
	%D%/board.h
# end of libloader_la_SOURCES

# The hub's side, from the rules to the messages.
libhost_la_SOURCES += \
	%D%/waits.h \
	%D%/slots.h \
	%D%/director.h \
	%D%/director.c \
	%D%/director_lease.c \
	%D%/director_member.c \
	%D%/director_pass.c \
	%D%/director_place.c \
	%D%/director_publish.c \
	%D%/director_show.c \
	%D%/director_stat.c \
	%D%/director_wait.c
# end of libhost_la_SOURCES

# The client's side.
libloader_la_SOURCES += \
	%D%/maps.h
# end of libloader_la_SOURCES
