# fuzz: one target per parser of bytes from outside.  In an ordinary build each
# is linked with replay.c and runs over its corpus in every `make check`; in a
# build with CC=clang and --enable-fuzz it is linked with libFuzzer, for
# `make fuzz FUZZ_SECONDS=60`.

EXTRA_DIST += %D%/corpus

fuzz_targets = \
	%D%/fuzz_parse \
	%D%/fuzz_args \
	%D%/fuzz_json \
	%D%/fuzz_text \
	%D%/fuzz_wire \
	%D%/fuzz_segment \
	%D%/fuzz_index \
	%D%/fuzz_page \
	%D%/fuzz_listing \
	%D%/fuzz_tar \
	%D%/fuzz_container \
	%D%/fuzz_hub \
	%D%/fuzz_stage \
	%D%/fuzz_labels \
	%D%/fuzz_ledger \
	%D%/fuzz_journal \
	%D%/fuzz_result \
	%D%/fuzz_picture
# end of fuzz_targets
check_PROGRAMS += $(fuzz_targets)
check_LTLIBRARIES += libreplay.la
libreplay_la_SOURCES = %D%/replay.c %D%/fuzz.h
if FUZZ
fuzz_ldadd = libhost.la $(FUZZ_LIBS)
else
fuzz_ldadd = libreplay.la libhost.la
TESTS += $(fuzz_targets)
endif
packet = tests/harness/packet.h
turnhub = tests/harness/turnhub.c tests/harness/turnhub.h
%C%_fuzz_wire_SOURCES = %D%/fuzz_wire.c $(packet)
%C%_fuzz_hub_SOURCES = %D%/fuzz_hub.c $(packet) $(turnhub)
%C%_fuzz_stage_SOURCES = %D%/fuzz_stage.c $(turnhub)
%C%_fuzz_parse_LDADD = $(fuzz_ldadd)
%C%_fuzz_args_LDADD = $(fuzz_ldadd)
%C%_fuzz_json_LDADD = $(fuzz_ldadd)
%C%_fuzz_text_LDADD = $(fuzz_ldadd)
%C%_fuzz_wire_LDADD = $(fuzz_ldadd)
%C%_fuzz_segment_LDADD = $(fuzz_ldadd)
%C%_fuzz_index_LDADD = $(fuzz_ldadd)
%C%_fuzz_page_LDADD = $(fuzz_ldadd)
%C%_fuzz_listing_LDADD = $(fuzz_ldadd)
%C%_fuzz_tar_LDADD = $(fuzz_ldadd)
%C%_fuzz_container_LDADD = libpreload.la $(fuzz_ldadd)
%C%_fuzz_picture_LDADD = $(fuzz_ldadd)
%C%_fuzz_hub_LDADD = $(fuzz_ldadd)
%C%_fuzz_stage_LDADD = $(fuzz_ldadd)
%C%_fuzz_labels_LDADD = $(fuzz_ldadd)
%C%_fuzz_ledger_LDADD = $(fuzz_ldadd)
%C%_fuzz_journal_LDADD = $(fuzz_ldadd)
%C%_fuzz_result_LDADD = $(fuzz_ldadd)

# `make fuzz` keeps what it found new in %D%/new/NAME and an input that broke
# something in %D%/broken-NAME-*.  `make fuzz-merge` puts the smallest set that
# reaches the same code into %D%/merged/NAME, to be copied into the corpus.
FUZZ_SECONDS = 60
FUZZ_FLAGS = -max_len=4200 -timeout=10 -rss_limit_mb=2048

.PHONY: fuzz fuzz-merge
if FUZZ
fuzz: $(fuzz_targets)
	@failed=; for program in $(fuzz_targets); do \
		name=$${program##*fuzz_}; \
		$(MKDIR_P) %D%/new/$$name; \
		echo "fuzz: $$name for $(FUZZ_SECONDS) s"; \
		./$$program $(FUZZ_FLAGS) -max_total_time=$(FUZZ_SECONDS) \
		    -print_final_stats=1 -artifact_prefix=%D%/broken-$$name- \
		    %D%/new/$$name $(srcdir)/%D%/corpus/$$name \
		    > %D%/$$name.log 2>&1 || failed="$$failed $$name"; \
		grep -E 'DONE|SUMMARY|number_of_executed|peak_rss' %D%/$$name.log; \
	done; \
	if test -n "$$failed"; then \
		echo "fuzz: failed:$$failed: see %D%/NAME.log and %D%/broken-NAME-*" >&2; \
		exit 1; \
	fi
fuzz-merge: $(fuzz_targets)
	@for program in $(fuzz_targets); do \
		name=$${program##*fuzz_}; \
		rm -rf %D%/merged/$$name; \
		$(MKDIR_P) %D%/merged/$$name %D%/new/$$name; \
		./$$program $(FUZZ_FLAGS) -set_cover_merge=1 -use_counters=0 \
		    %D%/merged/$$name \
		    $(srcdir)/%D%/corpus/$$name %D%/new/$$name \
		    > %D%/$$name-merge.log 2>&1 || exit; \
		echo "fuzz: $$name: `ls %D%/merged/$$name | wc -l` files"; \
	done
else
fuzz fuzz-merge:
	@echo "make $@: configure with CC=clang --enable-fuzz" >&2; exit 1
endif
clean-local: clean-fuzz
clean-fuzz:
	-rm -rf %D%/new %D%/merged
	-rm -f %D%/*.log %D%/broken-*
