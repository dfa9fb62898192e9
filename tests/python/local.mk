# python: the bodies of tests that compare with Pillow and torchvision.

EXTRA_DIST += \
	%D%/conftest.py \
	%D%/destall_api.py \
	%D%/oracle.py \
	%D%/pictures.py \
	%D%/png.py \
	%D%/torch_laws.py \
	%D%/jobs.py \
	%D%/jobside.py \
	%D%/shapes.py \
	%D%/reference.py \
	%D%/sharing_job.py \
	%D%/behaviour_job.py \
	%D%/cases.py \
	%D%/cases_batches.py \
	%D%/cases_loops.py \
	%D%/cases_workers.py \
	%D%/data.py \
	%D%/drill_job.py \
	%D%/foreign_job.py \
	%D%/foreign_loaders.py \
	%D%/liar_job.py \
	%D%/loops_job.py \
	%D%/newcomer_job.py \
	%D%/resume_job.py \
	%D%/profile_job.py \
	%D%/profile_group.py \
	%D%/stalls_job.py \
	%D%/test_behaviour.py \
	%D%/test_drills.py \
	%D%/test_foreign.py \
	%D%/test_loops.py \
	%D%/flows.py \
	%D%/flow_job.py \
	%D%/calls_job.py \
	%D%/test_calls.py \
	%D%/test_flows.py \
	%D%/test_pieces.py \
	%D%/terminal.py \
	%D%/trouble_job.py \
	%D%/test_payload.py \
	%D%/test_state.py \
	%D%/test_sharing.py \
	%D%/cache_job.py \
	%D%/test_cache.py \
	%D%/test_opens.py \
	%D%/test_roots.py \
	%D%/test_start.py \
	%D%/test_laws.py \
	%D%/test_loader.py \
	%D%/test_profile_parts.py \
	%D%/test_parity.py
# end of EXTRA_DIST
