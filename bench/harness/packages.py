# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Debian packages are here."""
import functools
import os
import subprocess


@functools.lru_cache(maxsize=None)
def installed(package):
    done = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Status}", package], capture_output=True, text=True)
    return done.returncode == 0 and done.stdout == "installed"


def missing(packages):
    return [p for p in packages if not installed(p)]


def install(packages):
    """Installs what is missing through the same few lines that ./check uses; returns what is still missing."""
    wanted = missing(packages)
    if wanted:
        here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".ci", "packages.sh")
        subprocess.run(["bash", "-c", '. "$0" && install_packages "$@"', here] + wanted)
        installed.cache_clear()
    return missing(wanted)
