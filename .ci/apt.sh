# Sourced by programs that take one package from another release of Debian. Nothing is installed, and root is
# not needed.
#
#   from_debian TYPE RELEASE
#
# makes the folder $work, and the function `apt` for packages (deb) or sources (deb-src) of the release.
from_debian() {
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work"/{parts,lists/partial,archives/partial,root}

  # The mirrors of this system, for that release. Mirrors of other systems have no such release, and no
  # signature for it.
  shopt -s nullglob
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg mirror mirrors
  [[ -e $keyring ]] || { echo "$keyring is missing; install debian-archive-keyring" >&2; exit 1; }
  mirrors=$(grep -hoE 'https?://[^ ]*/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null || true)
  for mirror in $(tr -d ' ' <<<"${mirrors:-http://deb.debian.org/debian}" | sort -u); do
    echo "$1 [signed-by=$keyring] $mirror $2 main" >>"$work/parts/$2.list"
  done
}

apt() {
  # apt runs as the present user, because the user of apt may not write here. apt compares what it loads with
  # the checksum in the signed list.
  apt-get -qq -o "APT::Sandbox::User=$(id -un)" -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$work/parts" \
    -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work" "$@" >&2
}
