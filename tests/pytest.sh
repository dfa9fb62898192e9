# SPDX-License-Identifier: Apache-2.0
# pytest.sh: what tests share whose body is Python, over libdestall by ctypes,
# with Pillow and torchvision to compare with.  Sourced after lib.sh.
#
#     DS_LONG=1 sh tests/d0600-parity.sh     with more of everything

# Debian's, wherever another Python stands first.
torch_python=/usr/bin/python3

# A library with a sanitizer in it cannot be loaded by a program without.
need_torch() {
	! is_sanitized || skip "Python cannot load a sanitized library"
	[ -x $torch_python ] || skip "there is no $torch_python"
	# To import them takes seconds.
	for module in pytest numpy PIL torch torchvision; do
		$torch_python -c 'import importlib.util, sys
sys.exit(importlib.util.find_spec(sys.argv[1]) is None)' $module ||
		    skip "$torch_python has no module $module"
	done
}

# run_pytest FILE...: of tests/python; its last line and figures go to our log.
run_pytest() {
	for name; do
		shift
		set -- "$@" "$top_srcdir/tests/python/$name"
	done
	export PYTHONDONTWRITEBYTECODE=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1
	# Pillow warns of odd EXIF and of transparency.
	run env DS_LONG="$long" $torch_python -m pytest -q --tb=short \
	    -W ignore::UserWarning -p no:cacheprovider --basetemp="$work/pytest" -c /dev/null \
	    --rootdir "$top_srcdir/tests/python" "$@"
	[ "$status" -eq 0 ] || show_and_fail
	sed -n '/^=* destall/,$p' "$work/out"
}

# All of it: which picture, cut and kernel it was.
show_and_fail() {
	cat "$work/out" "$work/err"
	echo "FAILED: pytest ended with $status"
	exit 1
}
