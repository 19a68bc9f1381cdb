# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by check, demo and bench/run: which Debian packages are needed, and installing the ones that are not there.

BUILD_PACKAGES="meson ninja-build pkg-config gcc g++ binutils libc6-dev libzydis-dev libelf-dev libdw-dev liblzma-dev
	libgit2-dev libpq-dev libsqlite3-dev libzstd-dev libbpf-dev bpftool clang libjansson-dev libncurses-dev libyaml-dev libgsl-dev libiberty-dev zlib1g-dev libcmocka-dev python3"
# npm fetches what the page of `strobe report` is built with; one that is no package of Debian's will do.
command -v npm >/dev/null || BUILD_PACKAGES+=" npm"
LINT_PACKAGES="clang-format clang-tidy cppcheck shellcheck python3-flake8"
# Shells whose completions are tried, and what reads manual pages. dpkg-dev, debhelper and lintian, for the Debian package,
# are not installed for it: without them that stage is skipped. Nor is chromium, of 190 MB, in which the page is tried.
TEST_PACKAGES="bash-completion fish zsh man-db mandoc strace valgrind libxml2-utils postgresql"
# A campaign is tried on a real Slurm if its packages can be installed.
SLURM_PACKAGES="munge slurm-wlm"
DEMO_PACKAGES="bzip2 python3"

# missing_packages NAME...: those that are not installed, one per line.
missing_packages() {
	local p
	for p in "$@"; do
		[ "$(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || echo "$p"
	done
}

# install_packages NAME...: installs what is missing; touches nothing, not even the network, when all are there.
install_packages() {
	local missing sudo=
	mapfile -t missing < <(missing_packages "$@")
	[ ${#missing[@]} -gt 0 ] || return 0
	if ! command -v apt-get >/dev/null; then
		echo "packages are missing and this is no Debian: install the equivalents of: ${missing[*]}" >&2
		return 1
	fi
	if [ "$(id -u)" -ne 0 ]; then
		if ! sudo -n true 2>/dev/null; then
			echo "packages are missing and neither root nor sudo is at hand; as root:" \
				"apt-get install ${missing[*]}" >&2
			return 1
		fi
		sudo="sudo -n"
	fi
	echo "installing ${missing[*]}"
	# Package lists may be old or absent on a fresh system; try without refreshing them first.
	apt_install "$sudo" "${missing[@]}" || {
		$sudo apt-get -q -y -o DPkg::Lock::Timeout=120 update && apt_install "$sudo" "${missing[@]}"
	}
}

apt_install() {
	local sudo=$1
	shift
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 \
		--no-install-recommends install "$@"
}
