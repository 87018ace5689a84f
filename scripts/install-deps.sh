#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs what proftrace needs, by the distribution's package manager.
#
#   scripts/install-deps.sh [GROUP...]     GROUP: build (default), test, fuzz, demo, bench, survive,
#                                       kernels, package, cross
#
# Does nothing, quickly, when everything is there. Debian 12 is what this is tested on; the dnf and
# pacman lines are untested.
set -eu

say() { echo "install-deps: $*" >&2; }
die() { say "$*"; exit 1; }

apt_packages()
{
	case $1 in
	build) echo gcc libc6-dev make python3 clang llvm libbpf-dev bpftool libelf-dev libdw-dev zlib1g-dev \
		liblzma-dev libzstd-dev libzydis-dev libiberty-dev libsqlite3-dev libncurses-dev libinih-dev libcurl4-gnutls-dev \
		libmicrohttpd-dev libmicrohttpd12 binutils ;;
	# nodejs runs speedscope's importer; a nodejs that did not come from Debian brings its own npm. golang-go builds targets
	# and has pprof; libdevel-nytprof-perl ships flamegraph.pl; libllvm14 is a large library to plan on; chromium opens the
	# page of -f html. gdb and bpftrace read static probes, too; systemtap-sdt-dev has sys/sdt.h, ruby has probes of its own.
	test) echo g++ libcmocka-dev python3 perl sqlite3 valgrind xz-utils procps util-linux mount less \
		libdevel-nytprof-perl libllvm14 libclang-rt-14-dev golang-go exiv2 qpdf systemtap-sdt-dev libstb-dev rapidjson-dev \
		bpftrace gdb lld rustc ruby \
		nginx redis-server tmux liblua5.4-dev debuginfod libdebuginfod1 protobuf-compiler nodejs $(command -v npm >/dev/null || echo npm) \
		postgresql mariadb-server-core mariadb-client chromium chromium-driver python3-selenium python3-jsonschema fonts-dejavu-core zsh fish clickhouse-server libcurl4 openssl prometheus strace victoria-metrics ;;
	fuzz) echo libclang-rt-14-dev ;;
	demo) echo perl redis-server redis-tools ;;
	bench) echo g++ python3 python3-dbg liblua5.4-dev perl valgrind bpftrace libllvm14 jsonnet sqlite3 redis-server redis-tools \
		libstb-dev nginx wrk mariadb-server-core mariadb-client postgresql golang-go ;;
	survive) echo bash bpftrace cppcheck fp-compiler fp-units-base fp-units-rtl gdb git golang-go libboost-context-dev libllvm14 libunwind-dev nginx perl \
		python3 redis-tools rustc sqlite3 strace systemtap-sdt-dev uftrace ;;
	# The machines that `make kernels` starts, and what goes into them; Debian's kernels come by apt-get download.
	kernels) echo qemu-system-x86 qemu-system-arm busybox-static dpkg debian-archive-keyring libc-bin bpftool python3 python3-dbg redis-server \
		redis-tools nginx util-linux ;;
	# What builds packages, and looks at them.
	package) echo debhelper debootstrap git libbz2-dev lintian rpm rpmlint ;;
	# Libraries for it come by scripts/cross-libraries.
	cross) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross dpkg debian-archive-keyring ;;
	*) return 1 ;;
	esac
}

dnf_packages()
{
	case $1 in
	build) echo gcc glibc-devel make python3 clang llvm libbpf-devel bpftool elfutils-libelf-devel elfutils-devel \
		zlib-devel xz-devel libzstd-devel zydis-devel sqlite-devel ncurses-devel inih-devel libcurl-devel libmicrohttpd-devel \
		binutils binutils-devel ;;
	fuzz) echo compiler-rt ;;
	test) echo gcc-c++ libcmocka-devel python3 perl sqlite valgrind xz procps-ng util-linux \
		golang exiv2 qpdf systemtap-sdt-devel stb-devel rapidjson-devel ruby nginx redis lua-static elfutils-debuginfod protobuf-compiler nodejs npm \
		chromium chromedriver python3-selenium python3-jsonschema ;;
	demo) echo perl redis ;;
	bench) echo gcc-c++ python3 perl valgrind bpftrace sqlite redis stb-devel ;;
	survive) echo bash bpftrace boost-devel cppcheck gdb git golang llvm-libs nginx perl python3 \
		redis rust sqlite strace systemtap-sdt-devel ;;
	*) return 1 ;;
	esac
}

pacman_packages()
{
	case $1 in
	build) echo gcc make python clang llvm libbpf bpf libelf zlib xz zstd zydis sqlite ncurses libinih curl libmicrohttpd binutils ;;
	fuzz) echo compiler-rt ;;
	test) echo cmocka debuginfod lua nginx python perl redis sqlite valgrind procps-ng util-linux go exiv2 qpdf protobuf ruby \
		nodejs npm chromium python-selenium python-jsonschema stb rapidjson ;;
	demo) echo perl redis ;;
	bench) echo python perl valgrind bpftrace sqlite redis stb ;;
	survive) echo bash boost bpftrace cppcheck gdb git go llvm-libs nginx perl python redis rust \
		sqlite strace ;;
	*) return 1 ;;
	esac
}

# Prints those of "$@" that are not installed.
apt_missing()
{
	installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
		awk '$2 == "installed" { print $1 }')
	for package; do
		echo "$installed" | grep -qxF -- "$package" || echo "$package"
	done
}

dnf_missing() { for package; do rpm -q "$package" >/dev/null 2>&1 || echo "$package"; done; }
pacman_missing() { pacman -T "$@" || true; }

apt_install()
{
	export DEBIAN_FRONTEND=noninteractive
	# One broken third-party source must not stop us: the install itself tells whether it matters.
	apt-get update -qq || say "apt-get update failed, going on with the lists that are there"
	apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

dnf_install() { dnf install -y -q --setopt=install_weak_deps=False "$@"; }
pacman_install() { pacman -Sy --noconfirm --needed "$@"; }

if command -v apt-get >/dev/null; then
	manager=apt command='apt-get install --no-install-recommends'
elif command -v dnf >/dev/null; then
	manager=dnf command='dnf install'
elif command -v pacman >/dev/null; then
	manager=pacman command='pacman -S'
else
	die "none of apt-get, dnf, pacman found: install by hand what apt_packages in $0 lists"
fi

packages=
for group in "${@:-build}"; do
	packages="$packages $("${manager}_packages" "$group")" ||
		die "unknown group '$group': use build, test, fuzz, demo, bench, survive, kernels, package or cross"
done

# shellcheck disable=SC2086 # lists of words
missing=$("${manager}_missing" $packages | sort -u | tr '\n' ' ')
[ -n "$missing" ] || exit 0
[ "$(id -u)" = 0 ] || die "missing: ${missing% }; install them as root: $command ${missing% }"
say "installing $missing"
# shellcheck disable=SC2086
"${manager}_install" $missing || die "cannot install: ${missing% }"
