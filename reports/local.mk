# reports: from the store to what people and programs read.

libhost_la_SOURCES += \
	%D%/result.c %D%/result.h \
	%D%/runstore_file.c %D%/runstore_priv.h \
	%D%/runstore_error.c \
	%D%/runstore_steps.c \
	%D%/runstore.c %D%/runstore.h \
	%D%/store_write.c \
	%D%/store_read.c \
	%D%/json_fields.c %D%/json_fields.h \
	%D%/in_json.c %D%/in_json_lists.c %D%/in_json.h %D%/in_json_priv.h \
	%D%/find.c %D%/find.h \
	%D%/gate.c %D%/gate.h \
	%D%/out_json.c %D%/out_json.h \
	%D%/out_term.c %D%/out_term_lists.c %D%/out_term.h %D%/out_term_priv.h \
	%D%/cmd_runs.c \
	%D%/cmd_report.c
# end of libhost_la_SOURCES

# The schema as a text in the program.
nodist_libhost_la_SOURCES = %D%/schema.c
EXTRA_DIST += %D%/schema.sql
CLEANFILES += %D%/schema.c
%D%/schema.c: $(srcdir)/%D%/schema.sql
	$(AM_V_GEN)$(MKDIR_P) $(@D) && { \
	echo '/* SPDX-License-Identifier: Apache-2.0'; \
	echo ' *'; \
	echo ' * schema.c: made of schema.sql.  Runs in the command only. */'; \
	echo '#include <config.h>'; \
	echo '#include "reports/runstore_priv.h"'; \
	echo 'const char store_schema[] ='; \
	sed 's/[\\"]/\\&/g; s/	/\\t/g; s/.*/"&\\n"/' $(srcdir)/%D%/schema.sql; \
	echo ';'; } > $@.part && mv $@.part $@
