# doc: what does not fit in a man page.

EXTRA_DIST += \
	%D%/architecture.md \
	%D%/datasets.md \
	%D%/dependencies.md \
	%D%/examples/ddp.py \
	%D%/examples/epochs.c \
	%D%/examples/images.py \
	%D%/examples/text.py \
	%D%/examples/train.c \
	%D%/examples/units.c \
	%D%/glossary.md \
	%D%/performance.md \
	%D%/profile.md \
	%D%/pytorch.md \
	%D%/compatibility.md \
	%D%/reliability.md \
	%D%/stage.md
# end of EXTRA_DIST
