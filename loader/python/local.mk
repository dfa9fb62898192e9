# python: DESTALL=1 for PyTorch jobs: doc/pytorch.md.

EXTRA_DIST += \
	%D%/destall/__init__.py \
	%D%/destall/_version.py \
	%D%/destall/_start.py \
	%D%/destall/_hook.py \
	%D%/destall/_session.py \
	%D%/destall/_order.py \
	%D%/destall/_worker.py \
	%D%/destall/_make.py \
	%D%/destall/_seeds.py \
	%D%/destall/_state.py \
	%D%/destall/_payload.py \
	%D%/destall/_same.py \
	%D%/destall/_say.py \
	%D%/destall/_lib.py \
	%D%/site/sitecustomize.py
# end of EXTRA_DIST
