# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``AdminBroker``: a broker with topics and groups that rejects selected items."""

from tests.client.log_broker import LogBroker

_ITEMS = {
    "CreateTopics": ("topics", "name"),
    "DeleteTopics": ("responses", "name"),
    "DeleteGroups": ("results", "group_id"),
    "DescribeConfigs": ("results", "resource_name"),
    "DescribeGroups": ("groups", "group_id"),
    "ConsumerGroupDescribe": ("groups", "group_id"),
}
"""(field of the items, field of an item's name) by response."""


class AdminBroker(LogBroker):
    """``LogBroker`` with groups, which can reject single items of a request.

    * ``refused``: {(request name without "Request", item): error code}.
    * ``has_members``: whether the groups have members. False by default.
    """

    def __init__(self, topics, **options):
        """Write the topics, and start listening."""
        self.refused = {}
        self.has_members = False
        self.is_sensitive = False
        super().__init__(topics, **options)

    def add_group(self, name, offsets=()):
        """Add a group with committed offsets: [(topic, partition, offset)]."""
        truth = self.cluster_truth
        truth.listed_groups |= {name}
        group = truth.add_group(name, sorted({topic for topic, _, _ in offsets}))
        for topic, partition, offset in offsets:
            group.commit((truth.topics[topic].topic_id, partition), offset, -1)

    def answer(self, event):
        """Return the simulated response, with the error codes of ``refused``."""
        response = super().answer(event)
        kind = type(event.request).__name__.removesuffix("Request")
        if kind in _ITEMS:
            field, name = _ITEMS[kind]
            items = [
                item.replace(
                    error_code=self.refused.get(
                        (kind, getattr(item, name)), item.error_code
                    )
                )
                for item in getattr(response, field)
            ]
            response = response.replace(**{field: items})
        if kind in ("DescribeGroups", "ConsumerGroupDescribe"):
            return response.replace(groups=[self._group(g) for g in response.groups])
        if kind == "DescribeConfigs" and self.is_sensitive:
            results = [
                result.replace(
                    configs=[item.replace(is_sensitive=True) for item in result.configs]
                )
                for result in response.results
            ]
            return response.replace(results=results)
        return response

    def _group(self, group):
        if self.has_members or group.error_code or group.group_state == "Dead":
            return group
        return group.replace(members=[], group_state="Empty")
