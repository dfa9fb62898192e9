# tool: main, the table of commands, and the commands that belong to no flow.

destall_SOURCES += %D%/main.c

libhost_la_SOURCES += \
	%D%/commands.c %D%/commands.h \
	%D%/cmd_help.c \
	%D%/cmd_completion.c %D%/completion.c %D%/completion.h
# end of libhost_la_SOURCES

# Completions are printed by the program itself.
bashcompdir = $(datadir)/bash-completion/completions
zshcompdir = $(datadir)/zsh/site-functions
if CAN_RUN
nodist_bashcomp_DATA = %D%/completion.bash/destall
nodist_zshcomp_DATA = %D%/completion.zsh/_destall
CLEANFILES += $(nodist_bashcomp_DATA) $(nodist_zshcomp_DATA)

%D%/completion.bash/destall: destall$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && ./destall completion bash > $@.part && mv $@.part $@
%D%/completion.zsh/_destall: destall$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && ./destall completion zsh > $@.part && mv $@.part $@
endif
