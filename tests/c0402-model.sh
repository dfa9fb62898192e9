# SPDX-License-Identifier: Apache-2.0
# c0402: the protocol of leases holds in every order of events of a small
# world (tests/model/world.h), and the search finds each rule that is broken on
# purpose.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/model.sh"

holds_in_all model 7 'model'
first='client A asks to open set 0'
breaks generation orphan '3: READY, but the file is not complete'
breaks proof orphan '4: bytes that had a name were written'
breaks revoke orphan 'rule 6: a lease of a set that nobody uses'
breaks revoke three '(5|rule 6): '
breaks drop-in-use drop '9: a set in use was dropped'
breaks wake orphan 'progress: '
breaks wake-revoke orphan 'progress: '
breaks load-order orphan 'progress: '
breaks quarantine orphan '7: memory is held that is not counted'
breaks holds orphan '2: a draft without the lease'
breaks leave orphan '6: the users'
breaks reopen corrupt '10: admission was opened again'
breaks report corrupt '9: an item of a set in use was dropped'
no_other_rules 'model'
