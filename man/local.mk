# man: one page per command.  The prose is written by hand in *.1.in; synopsis
# and options come from the table of commands, by mkman.

noinst_PROGRAMS += %D%/mkman
%C%_mkman_SOURCES = %D%/mkman.c
%C%_mkman_LDADD = libhost.la

man_templates = \
	%D%/destall.1.in \
	%D%/destall-doctor.1.in \
	%D%/destall-demo.1.in \
	%D%/destall-gen.1.in \
	%D%/destall-profile.1.in \
	%D%/destall-run.1.in \
	%D%/destall-env.1.in \
	%D%/destall-emulate.1.in \
	%D%/destall-cache.1.in \
	%D%/destall-top.1.in \
	%D%/destall-ledger.1.in \
	%D%/destall-report.1.in \
	%D%/destall-runs.1.in \
	%D%/destall-serve.1.in \
	%D%/destall-completion.1.in \
	%D%/destall-help.1.in
# end of man_templates
EXTRA_DIST += $(man_templates)

if CAN_RUN
nodist_man_MANS = $(man_templates:.1.in=.1)
CLEANFILES += $(nodist_man_MANS)

SUFFIXES = .1.in .1
.1.in.1:
	$(AM_V_GEN)$(MKDIR_P) $(@D) && %D%/mkman `basename $*` < $< > $@.part && mv $@.part $@
$(nodist_man_MANS): %D%/mkman$(EXEEXT)
endif
