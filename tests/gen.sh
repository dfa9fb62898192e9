# SPDX-License-Identifier: Apache-2.0
# gen.sh: what the tests of `destall gen` share.  Sourced after lib.sh.

# Small images: the tests are about the set, not the pictures.
gen() { "$destall" gen --size 40x30 --classes 3 "$@"; }

# tree DIR: one line for all names and bytes in it.
tree() {
	(cd "$1" && find . -type f | LC_ALL=C sort | xargs sha256sum) | sha256sum
}

same_tree() { diff -rq "$1" "$2" > "$work/out" || fail "$1 and $2 differ: $3"; }

count_images() { find "$1" -name '*.jpg' | wc -l; }

# check_whole DIR: whatever happened, each file under its own name is whole,
# and a reader of the set finds nothing else: parts are files in the root.
check_whole() {
	: > "$work/half"
	[ "$(count_images "$1")" -eq "$(count_ends "$1")" ] || list_half "$1" >> "$work/half"
	find "$1" -name '*.tar' | while read -r f; do
		tar -tf "$f" > /dev/null 2>&1 || echo "half: $f"
	done >> "$work/half"
	find "$1" -mindepth 1 -maxdepth 1 \( -type d ! -name 'class[0-9]*' -o \
	    -type f ! -name '.destall-gen*' ! -name 'shard-*.tar' \) >> "$work/half"
	find "$1" -mindepth 2 ! -name '[0-9]*.jpg' >> "$work/half"
	[ ! -s "$work/half" ] || fail "$2: $(cat "$work/half")"
}

# count_ends DIR: how many images end as one does; of all in one go, since
# tests look thousands of times.
count_ends() {
	find "$1" -name '*.jpg' -exec tail -q -c 2 {} + | od -An -v -tx1 -w2 | grep -cx ' ff d9' || :
}

# list_half DIR: those that do not.
list_half() {
	find "$1" -name '*.jpg' | while read -r f; do
		[ "$(tail -c 2 "$f" | od -An -tx1)" = " ff d9" ] || echo "half: $f"
	done
}

# check_clean DIR: and no part is left.
check_clean() {
	check_whole "$1" "$2"
	[ -z "$(find "$1" -name '.destall-gen.part*')" ] || fail "$2: a part is left"
}
