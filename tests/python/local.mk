# python: the bodies of tests that compare with Pillow and torchvision.

EXTRA_DIST += \
	%D%/conftest.py \
	%D%/destall_api.py \
	%D%/oracle.py \
	%D%/pictures.py \
	%D%/png.py \
	%D%/torch_laws.py \
	%D%/shapes.py \
	%D%/reference.py \
	%D%/sharing_job.py \
	%D%/test_payload.py \
	%D%/test_state.py \
	%D%/test_sharing.py \
	%D%/test_laws.py \
	%D%/test_loader.py \
	%D%/test_parity.py
# end of EXTRA_DIST
