# compat: current PyTorch and frameworks, from pip; never run as a test.

EXTRA_DIST += \
	%D%/operators.py \
	%D%/requirements.txt \
	%D%/venv \
	%D%/run \
	%D%/rows.py \
	%D%/jobs/accelerate_job.py \
	%D%/jobs/albumentations_job.py \
	%D%/jobs/data.py \
	%D%/jobs/datasets_job.py \
	%D%/jobs/endless_job.py \
	%D%/jobs/lightning_job.py \
	%D%/jobs/make_files.py \
	%D%/jobs/optuna_job.py \
	%D%/jobs/own_iterator_job.py \
	%D%/jobs/plain_loader.py \
	%D%/jobs/record.py \
	%D%/jobs/stateful_job.py \
	%D%/jobs/timm_job.py \
	%D%/jobs/torchvision_job.py \
	%D%/jobs/trainer_job.py \
	%D%/jobs/trial_job.py \
	%D%/jobs/webdataset_job.py
