# python: DESTALL=1 for PyTorch jobs: doc/pytorch.md.

destall_modules = \
	%D%/destall/__init__.py \
	%D%/destall/_version.py \
	%D%/destall/_start.py \
	%D%/destall/_hook.py \
	%D%/destall/_shared.py \
	%D%/destall/_job.py \
	%D%/destall/_iteration.py \
	%D%/destall/_span.py \
	%D%/destall/_epoch.py \
	%D%/destall/_layout.py \
	%D%/destall/_gather.py \
	%D%/destall/_stream.py \
	%D%/destall/_place.py \
	%D%/destall/_trust.py \
	%D%/destall/_order.py \
	%D%/destall/_iterable.py \
	%D%/destall/_fetcher.py \
	%D%/destall/_worker.py \
	%D%/destall/_substream.py \
	%D%/destall/_make.py \
	%D%/destall/_seeds.py \
	%D%/destall/_state.py \
	%D%/destall/_watch.py \
	%D%/destall/_known.py \
	%D%/destall/_memory.py \
	%D%/destall/_payload.py \
	%D%/destall/_same.py \
	%D%/destall/_by_id.py \
	%D%/destall/_say.py \
	%D%/destall/_saved.py \
	%D%/destall/_ledger.py \
	%D%/destall/_status.py \
	%D%/destall/_cache.py \
	%D%/destall/_roots.py \
	%D%/destall/_keeper.py \
	%D%/destall/_opens.py \
	%D%/destall/_lib.py \
	%D%/destall/_profile.py \
	%D%/destall/_training.py \
	%D%/destall/_steer.py \
	%D%/destall/_set.py \
	%D%/destall/_leave.py \
	%D%/destall/_private.py \
	%D%/destall/_replay.py \
	%D%/destall/_meter.py \
	%D%/destall/_ready.py \
	%D%/destall/_live.py \
	%D%/destall/_trace.py \
	%D%/destall/_pages.py \
	%D%/destall/_schedule.py \
	%D%/destall/_journal.py \
	%D%/destall/_interrupt.py \
	%D%/destall/__main__.py \
	%D%/destall/_demo.py
# end of destall_modules

EXTRA_DIST += $(destall_modules) %D%/site/sitecustomize.py %D%/destall.pth \
	%D%/pyproject.toml %D%/backend/destall_build.py %D%/backend/wheel.py

.PHONY: wheel clean-python
clean-local: clean-python
clean-python:
	-rm -rf python wheel.tmp destall-*.whl

if WITH_PYTHON

# As it is installed, for the program in the build folder.  A folder of its own,
# and copies: a build within the source works too, and a link would lead to
# where others may write.
all-local: python/stamp
python/stamp: $(destall_modules) %D%/site/sitecustomize.py
	$(AM_V_GEN)rm -rf python && $(MKDIR_P) python/destall/site && \
	for file in $(destall_modules); do \
	    cp "$(srcdir)/$$file" python/destall/ || exit 1; \
	done && \
	cp "$(srcdir)/%D%/site/sitecustomize.py" python/destall/site/ && \
	chmod -R u+w,go-w python && \
	$(LN_S) ../../.libs python/destall/lib && touch $@

# For the Python that configure found.  The link says where the library is, even
# when all of it is moved.
destall_moduledir = $(pythondir)/destall
destall_module_DATA = $(destall_modules)
destall_hookdir = $(pythondir)/destall/site
destall_hook_DATA = %D%/site/sitecustomize.py
destall_pthdir = $(pythondir)
destall_pth_DATA = %D%/destall.pth

relative_path = $(PYTHON) -c 'import os, sys; print(os.path.relpath(*sys.argv[1:]))'
install-data-hook:
	$(relative_path) "$(libdir)" "$(destall_moduledir)" | ( read -r to && \
	    cd "$(DESTDIR)$(destall_moduledir)" && rm -f lib && $(LN_S) "$$to" lib )
uninstall-hook:
	cd "$(DESTDIR)$(destall_moduledir)" 2> /dev/null || exit 0; \
	rm -rf lib __pycache__ site/__pycache__; cd .. && rmdir destall/site destall

# One file for pip, with the program, the library and all they need; it is put
# into $(wheeldir).
wheeldir = .
wheel: destall$(EXEEXT) libdestall.la libdestall-preload.la python/stamp
	$(AM_V_GEN)stage="$(wheeldir)/wheel.tmp" && rm -rf "$$stage" && $(MKDIR_P) "$$stage" && \
	libs=`$(PKG_CONFIG) --static --libs jansson sqlite3 libjpeg $(wheel_png)` && \
	libs=`echo " $$libs " | sed 's/ -l\(m\|dl\|pthread\) / /g; s/ -pthread / /g'` && \
	$(CC) $(destall_CFLAGS) $(CFLAGS) $(destall_LDFLAGS) $(LDFLAGS) -o "$$stage/destall" \
	    -Wl,-Map="$$stage/map" tool/destall-main.$(OBJEXT) .libs/libhost.a \
	    -Wl,-Bstatic $$libs -Wl,-Bdynamic $(LIBM) $(LIBS) && \
	$(PYTHON) "$(srcdir)/%D%/backend/wheel.py" "$$stage" "$(wheeldir)" \
	    .libs/libdestall.so.0 .libs/libdestall-preload.so && \
	rm -rf "$$stage"
if WITH_PNG
wheel_png = libpng
endif

else
wheel:
	@echo "make $@: configure with Python" >&2; exit 1
endif
