# stage: several jobs, one decode: the rules, the hub's side, the client's side.

# What passes between them.
libloader_la_SOURCES += \
	%D%/messages.h \
	%D%/line.h \
	%D%/lag.c %D%/lag.h \
	%D%/board.c %D%/board.h
# end of libloader_la_SOURCES

# The hub's side, from the rules to the messages.
libhost_la_SOURCES += \
	%D%/line.c \
	%D%/line_check.c \
	%D%/waits.c %D%/waits.h \
	%D%/slots_owner.c %D%/slots_memory.c \
	%D%/slots.c %D%/slots_get.c %D%/slots_state.h %D%/slots.h \
	%D%/director.c %D%/director.h \
	%D%/director_ghost.c \
	%D%/director_late.c \
	%D%/director_lease.c \
	%D%/director_member.c \
	%D%/director_pass.c \
	%D%/director_place.c \
	%D%/director_publish.c \
	%D%/director_show.c \
	%D%/director_stat.c \
	%D%/director_wait.c
# end of libhost_la_SOURCES

# What `destall top` asks it.
libhost_la_SOURCES += \
	%D%/look.c %D%/look_view.c %D%/look.h
# end of libhost_la_SOURCES

# The client's side.
libloader_la_SOURCES += \
	%D%/maps.h \
	%D%/maps_state.h \
	%D%/maps.c \
	%D%/maps_copy.c \
	%D%/maps_gone.c \
	%D%/written.h \
	%D%/written.c \
	%D%/watch.c \
	%D%/stage_options.c %D%/stage_options.h \
	%D%/talk.c %D%/talk.h \
	%D%/stage.h \
	%D%/desk.c \
	%D%/desks.c %D%/desks.h \
	%D%/stage.c \
	%D%/pass.c \
	%D%/pass_hold.c \
	%D%/pass_make.c \
	%D%/pass_take.c
# end of libloader_la_SOURCES
