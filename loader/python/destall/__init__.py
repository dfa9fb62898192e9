# SPDX-License-Identifier: Apache-2.0
"""destall: several training jobs share one cache and every prepared batch."""

from ._version import VERSION as __version__        # noqa: F401
