# SPDX-License-Identifier: Apache-2.0
# Standard output cannot be written, at each of its writes: one line that says
# so and status 1; never silence, never success.
. "${top_srcdir:?run by make check}/tests/lib.sh"

fail_statuses=1
check_after_failure() {
	case $1 in
	write:*+:*) expect_no_err ;; # nor can the line be written
	*) expect_one_line 'cannot write to standard output: ' ;;
	esac
}

# In the C library's last flush.
is_sanitized || for args in help "completion bash" "completion zsh"; do
	fail_calls fflush EIO "$destall" $args
done

# A device that is always full.
run_full() { "$destall" "$@" > /dev/full; }
for args in help "completion bash" "completion zsh" --version --help; do
	run run_full $args
	expect_status 1
	expect_one_line 'cannot write to standard output: No space left'
done

# Beneath the C library, at every write.
for args in help "completion bash" "completion zsh"; do
	fail_syscalls write ENOSPC "$destall" $args
done
