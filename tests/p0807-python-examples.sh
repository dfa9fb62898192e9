# SPDX-License-Identifier: Apache-2.0
# p0807: the PyTorch examples run as they are, two at a time with different
# learning rates behind `destall run`, and the pictures are shared.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/run.sh"
. "$top_srcdir/tests/pytest.sh"
configured WITH_PYTHON || skip "built without Python"
need_preload
need_torch
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1

# Only their heads know of us.
for name in images text ddp; do
	$torch_python - "$top_srcdir/doc/examples/$name.py" <<'END' || fail "$name.py names destall"
import ast, sys
tree = ast.parse(open(sys.argv[1]).read())
assert "destall run python3" in ast.get_docstring(tree)
tree.body.pop(0)
assert "destall" not in ast.dump(tree).lower()
END
done

# example NAME LR ARG...: one job; its output into LR.out and LR.err.
example() {
	script=$top_srcdir/doc/examples/$1.py lr=$2
	shift 2
	DESTALL=1 "$destall" run $torch_python "$script" --lr "$lr" "$@" > "$lr.out" 2> "$lr.err"
}

# two NAME ARG...: at the same time; both end well, each with its own rate.
two() {
	name=$1
	shift
	example "$name" 0.1 "$@" &
	first=$!
	status=0
	example "$name" 0.01 "$@" || status=$?
	wait $first || status=$?
	cat 0.1.out 0.01.out > "$work/out"
	cat 0.1.err 0.01.err > "$work/err"
	expect_status 0
	expect_out '^lr 0\.1, epoch 1: '
	expect_out '^lr 0\.01, epoch 1: '
	! grep -q Traceback "$work/err" || fail "$name.py: an error"
}

"$destall" gen --count 96 --classes 3 --size 96x72 data > /dev/null 2>&1 || fail "gen"

# Jobs that are over before the other has begun share nothing: then longer ones.
epochs=2
until
	two images data --epochs $epochs --workers 1 --batch 8 --size 32
	grep -Eq '^destall: [0-9,]+ of [0-9,]+ samples were made by other jobs' "$work/err"
do
	epochs=$((epochs * 4))
	[ $epochs -lt 1000 ] || fail "nothing was shared"
done
two text --count 300 --epochs 2 --workers 1
two ddp --count 128 --epochs 2 --workers 1
stop_hub
