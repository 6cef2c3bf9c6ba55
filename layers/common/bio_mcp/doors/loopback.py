"""This machine's loopback interface, as addresses, Host headers and Origins."""

import ipaddress

LOOPBACK_HOSTS = ("127.0.0.1:*", "localhost:*", "[::1]:*")
LOOPBACK_ORIGIN = r"https?://(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?"


def is_loopback(host: str) -> bool:
    """Whether `host`, a name or an address, is certainly this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
