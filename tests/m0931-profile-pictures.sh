# SPDX-License-Identifier: Apache-2.0
# `destall profile` of a job over torchvision's ImageFolder, in a virtual environment.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/profiled.sh"
need_torch torchvision PIL venv

"$destall" gen --count 1600 --size 40-64 --classes 3 set > /dev/null
$torch_python -m venv --system-site-packages --without-pip own
profile --for 9s -- own/bin/python "$job" --images "$PWD/set" --batches 400 --workers 1 --step 40
expect_status 0
expect_no_out
# Decoding such a picture takes no time to speak of.
expect_result 'verdict["sentence"] and share["compute"] > 0.5 and share["prep"] < 0.3' \
    'training[0]["name"] == "ImageFolder"' 'rate["storage"] > 0 and rate["prep"] > 0' \
    'doc["job"]["bytes_per_sample"] > 100' 'doc["job"]["samples_per_epoch"] == 1600'
