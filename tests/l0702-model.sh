# SPDX-License-Identifier: Apache-2.0
# l0702: the protocol of the stage holds in every order of events of a small
# world (tests/model/stage_world.h), and the search finds each rule that is
# broken on purpose.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/model.sh"

holds_in_all stage 15 'model of the stage'
breaks retire-early window '2: what was taken has other bytes now'
breaks no-quarantine keep '4: memory is mapped that is not counted'
breaks no-generation pair '2: what was taken has other bytes now'
breaks wait-own-job nested 'progress: '
breaks no-cycle 1:1 'progress: '
breaks no-cycle 1:5 'progress: '
breaks no-cycle ranks 'progress: '
breaks reuse-late-slot threads '3: a FREE slot is written'
breaks pin-none detach '2: what was taken has other bytes now'
breaks lost-wake pair 'progress: '
breaks no-recheck window 'progress: '
breaks look-order detach '2: what was taken has other bytes now'
breaks no-private keep 'progress: '
breaks wake-no-maker window 'progress: '
breaks away epochs '9: all are done, and one is a member'
breaks stopped-maker workers 'progress: '
breaks late-once workers 'progress: '
no_other_rules 'model of the stage'
