# fuzz: one target per parser of bytes from outside.  Every `make check` runs
# each over its corpus (replay_NAME); a build with CC=clang and --enable-fuzz
# also has them with libFuzzer (fuzz_NAME), for `make fuzz FUZZ_SECONDS=60`.

EXTRA_DIST += %D%/corpus

fuzz_cppflags = $(AM_CPPFLAGS) $(JSON_CFLAGS)
fuzz_replays =
fuzz_programs =
check_PROGRAMS += $(fuzz_replays)
TESTS += $(fuzz_replays)
if FUZZ
check_PROGRAMS += $(fuzz_programs)
endif
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer

fuzz_replays += %D%/replay_parse
%C%_replay_parse_SOURCES = %D%/fuzz_parse.c %D%/fuzz.h %D%/replay.c
%C%_replay_parse_CPPFLAGS = $(fuzz_cppflags)
%C%_replay_parse_LDADD = libhost.la
fuzz_programs += %D%/fuzz_parse
%C%_fuzz_parse_SOURCES = %D%/fuzz_parse.c %D%/fuzz.h
%C%_fuzz_parse_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_parse_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_parse_LDADD = libhost.la

fuzz_replays += %D%/replay_args
%C%_replay_args_SOURCES = %D%/fuzz_args.c %D%/fuzz.h %D%/replay.c
%C%_replay_args_CPPFLAGS = $(fuzz_cppflags)
%C%_replay_args_LDADD = libhost.la
fuzz_programs += %D%/fuzz_args
%C%_fuzz_args_SOURCES = %D%/fuzz_args.c %D%/fuzz.h
%C%_fuzz_args_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_args_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_args_LDADD = libhost.la

fuzz_replays += %D%/replay_json
%C%_replay_json_SOURCES = %D%/fuzz_json.c %D%/fuzz.h %D%/replay.c
%C%_replay_json_CPPFLAGS = $(fuzz_cppflags)
%C%_replay_json_LDADD = libhost.la
fuzz_programs += %D%/fuzz_json
%C%_fuzz_json_SOURCES = %D%/fuzz_json.c %D%/fuzz.h
%C%_fuzz_json_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_json_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_json_LDADD = libhost.la

fuzz_replays += %D%/replay_text
%C%_replay_text_SOURCES = %D%/fuzz_text.c %D%/fuzz.h %D%/replay.c
%C%_replay_text_CPPFLAGS = $(fuzz_cppflags)
%C%_replay_text_LDADD = libhost.la
fuzz_programs += %D%/fuzz_text
%C%_fuzz_text_SOURCES = %D%/fuzz_text.c %D%/fuzz.h
%C%_fuzz_text_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_text_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_text_LDADD = libhost.la

fuzz_replays += %D%/replay_wire
%C%_replay_wire_SOURCES = %D%/fuzz_wire.c %D%/fuzz.h %D%/replay.c
%C%_replay_wire_CPPFLAGS = $(fuzz_cppflags)
%C%_replay_wire_LDADD = libhost.la
fuzz_programs += %D%/fuzz_wire
%C%_fuzz_wire_SOURCES = %D%/fuzz_wire.c %D%/fuzz.h
%C%_fuzz_wire_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_wire_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_wire_LDADD = libhost.la

fuzz_replays += %D%/replay_segment
%C%_replay_segment_SOURCES = %D%/fuzz_segment.c %D%/fuzz.h %D%/replay.c
%C%_replay_segment_CPPFLAGS = $(fuzz_cppflags)
%C%_replay_segment_LDADD = libhost.la
fuzz_programs += %D%/fuzz_segment
%C%_fuzz_segment_SOURCES = %D%/fuzz_segment.c %D%/fuzz.h
%C%_fuzz_segment_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_segment_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_segment_LDADD = libhost.la

# `make fuzz` keeps what it found new in %D%/new/NAME and an input that broke
# something in %D%/broken-NAME-*.  `make fuzz-merge` puts the smallest set that
# reaches the same code into %D%/merged/NAME, to be copied into the corpus.
FUZZ_SECONDS = 60
FUZZ_FLAGS = -max_len=4200 -timeout=10 -rss_limit_mb=2048

.PHONY: fuzz fuzz-merge
if FUZZ
fuzz: $(fuzz_programs)
	@failed=; for program in $(fuzz_programs); do \
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
fuzz-merge: $(fuzz_programs)
	@for program in $(fuzz_programs); do \
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
