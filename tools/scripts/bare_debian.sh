# Bare Debian systems, for scripts that source this file at the root of the tree, as root, with debootstrap. A release is
# unpacked once, into build/debian/RELEASE, and copied for every use.
debian_cache=$PWD/build/debian

# copy_bare RELEASE NAME: sets root to a fresh copy, build/debian/RELEASE.NAME
copy_bare() {
  local bare=$debian_cache/$1
  ((EUID == 0)) || { echo "$0: debootstrap and chroot need root" >&2; exit 1; }
  command -v debootstrap >/dev/null || { echo "$0: apt-get install debootstrap" >&2; exit 1; }
  mkdir -p "$debian_cache/ccache"
  if [[ ! -e $bare/.complete ]]; then
    echo "making $bare"
    rm -rf "$bare"
    debootstrap --variant=minbase "$1" "$bare" >"$debian_cache/debootstrap.$1.log" 2>&1 ||
      { tail -n 20 "$debian_cache/debootstrap.$1.log" >&2; exit 1; }
    touch "$bare/.complete"
  fi
  root=$bare.$2
  rm -rf "$root"
  cp -a --reflink=auto "$bare" "$root"
}

# inside COMMAND...: runs it in $root, in namespaces of its own: mounts, and whatever is still running, end with it.
inside() {
  unshare --mount --pid --fork bash -euc '
    root=$1; shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mkdir -p "$root/ccache"
    mount --bind "$root/../ccache" "$root/ccache"
    exec chroot "$root" env -i HOME=/root LANG=C.UTF-8 CCACHE_DIR=/ccache \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ${http_proxy:+http_proxy="$http_proxy"} "$@"
  ' inside "$root" "$@"
}
