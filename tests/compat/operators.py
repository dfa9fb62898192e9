# SPDX-License-Identifier: Apache-2.0
"""What torchvision's compiled part would define, where it does not fit this torch;
imported before torchvision, this lets Pillow's transforms and ImageFolder work."""

import torch

_library = torch.library.Library("torchvision", "DEF")
_library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
_library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
