#!/bin/sh
# Installs Julia 1.5.3, which Debian 11 (bullseye) has and Debian 12 has not.
# Needs root. `cargo xtask test` calls it when there is no julia on PATH.
set -eu

. /etc/os-release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work" # apt downloads as the user _apt
mkdir -p "$work/lists/partial"

# The mirror that serves this machine its own release.
mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' |
    awk -v release="$VERSION_CODENAME" '$2 == release { print $1; exit }')
if [ -z "$mirror" ]; then
    echo "apt knows no mirror of Debian $VERSION_CODENAME here; install Julia 1.5 or newer by hand" >&2
    exit 1
fi

# Both releases stand in the list: what they share comes from the newer one,
# so nothing is replaced by an older version.
cat > "$work/julia.sources" <<END
Types: deb
URIs: $mirror
Suites: $VERSION_CODENAME bullseye
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END

apt() {
    apt-get -qq -o DPkg::Lock::Timeout=300 -o Dir::Etc::sourcelist="$work/julia.sources" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$work/lists" "$@"
}
apt update
DEBIAN_FRONTEND=noninteractive apt install -y --no-install-recommends julia

# Debian 12's libunwind crashes this Julia at the first exception of compiled
# code. Julia looks for libraries in a folder of its own first.
(cd "$work" && apt -o APT::Sandbox::User=root download libunwind8/bullseye && dpkg-deb -x libunwind8_*.deb unwind)
cp -a "$work"/unwind/usr/lib/*/libunwind.so.8* "$(dirname "$(find /usr/lib -name libjulia.so.1)")/julia/"
