# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to DescribeAcls, as from a broker without an authorizer.

Source: ``AclApis.handleDescribeAcls``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...messages import DescribeAclsResponse
from ...schema import error_codes

if TYPE_CHECKING:
    from .context import Answer, RequestContext


def answer_describe_acls(context: RequestContext) -> Answer:
    """Return the error of a broker that has no ACLs."""
    code = context.injected_error() or error_codes.SECURITY_DISABLED
    return DescribeAclsResponse(
        error_code=code, error_message="No Authorizer is configured."
    )
