"""Limits of requests a minute for a member of staff, or for an address that says not who it is."""

import time
from typing import Any

from django.conf import settings
from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from chat.api.auth import client_address
from chat.sites.rate_limits import pseudonym


class PerMinute(BaseThrottle):
    """Counts by whole minutes, for all processes together."""

    def allow_request(self, request: Request, view: Any) -> bool:
        if request.user.is_authenticated:
            who, most = f"user:{request.user.pk}", settings.STAFF_API_PER_MINUTE
        else:
            who, most = pseudonym(client_address(request)), settings.STAFF_API_PER_MINUTE_AND_ADDRESS
        key = f"staff-api:{who}:{int(time.time()) // 60}"
        cache.add(key, 0, timeout=120)
        return cache.incr(key) <= most

    def wait(self) -> float:
        return 60 - time.time() % 60
