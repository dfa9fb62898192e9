# SPDX-License-Identifier: Apache-2.0
# b0102: the completions complete, in real shells.
. "${top_srcdir:?run by make check}/tests/lib.sh"
need bash

"$destall" completion bash > completion.bash
"$destall" completion zsh > completion.zsh

# complete_bash WORD...: what bash would offer for the last word.
complete_bash() {
	bash -c '
		. ./completion.bash
		compopt() { :; }
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_destall
		printf "%s\n" "${COMPREPLY[@]}"' - "$@"
}

[ "$(complete_bash destall comp)" = completion ] || fail "comp is not completed to completion"
complete_bash destall '' | grep -qx gen || fail "commands are not offered"
[ "$(complete_bash destall completion z)" = zsh ] || fail "completion z is not completed to zsh"
complete_bash destall help d | grep -qx doctor || fail "help does not offer commands"
[ "$(complete_bash destall gen --cou)" = --count= ] || fail "--cou is not completed"
# Where another command follows, commands; what comes after is its own.
complete_bash destall run gre | grep -qx grep || fail "run does not offer commands"
complete_bash destall run -- gre | grep -qx grep || fail "run -- does not offer commands"
[ "$(complete_bash destall run --da)" = --data= ] || fail "run --da is not completed"
[ -z "$(complete_bash destall run -- ls --da)" ] || fail "an option of ours is offered to another command"
[ -z "$(complete_bash destall gen some)" ] || fail "an operand is completed to something else than a file"

command -v zsh > /dev/null || { echo "zsh is not installed: not tried"; exit 0; }
zsh -f -n completion.zsh || fail "the zsh completion is not well-formed"
# A real zsh in a pseudo-terminal, asked to complete.
mkdir functions
cp completion.zsh functions/_destall
cat > ask.zsh <<'ZSH'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1=; TERM=dumb; fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -d $PWD/dump; bindkey "^I" complete-word; echo REA""DY'
zpty -r -m z out '*READY*'
zpty -w -n z 'destall compl'$'\t'
zpty -r -m z out '*completion*' && print command
zpty -w -n z 'zs'$'\t'
zpty -r -m z out '*zsh*' && print operand
zpty -d z
ZSH
timeout 20 zsh -f ask.zsh > asked 2>&1 || :
[ "$(cat asked)" = "command
operand" ] || fail "zsh did not complete: $(cat asked)"
