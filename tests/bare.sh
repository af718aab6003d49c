#!/usr/bin/env bash
# Do `make demo` and `make test` work where only Python, make and git are? In a fresh chroot for each
# Debian suite, from what is committed. Root and Debian only.
#
#   tests/bare.sh [SUITE …]      bookworm and trixie unless others are named
#
# Mirror, certificates, proxies and package index are those of this machine, read when it runs.
set -euo pipefail

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
  echo "this makes Debian systems: run it as root on Debian, after apt-get install debootstrap" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- bookworm trixie

# shellcheck disable=SC2016  # apt's own variable
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | head -n 1)
[ -n "$mirror" ] || { echo "apt knows no mirror of Debian: run apt-get update" >&2; exit 2; }
work=$(mktemp -d)
# What runs in a chroot, and what makes it, has its mounts and processes in a namespace of its own,
# which ends with it: nothing of this machine is mounted below when this removes it.
apart=(unshare --mount --pid --fork --kill-child)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM

index=()  # where packages come from; an index of files on this machine would hide what is missing
for name in index-url extra-index-url trusted-host proxy timeout; do
  value=$(python3 -m pip config get "global.$name" 2>/dev/null || true)
  value=$(tr ' ' '\n' <<<"$value" | grep -v '^file:' | paste -sd ' ' || true)
  variable=PIP_$(tr 'a-z-' 'A-Z_' <<<"$name")
  value=${!variable:-$value}
  [ -z "$value" ] || index+=("$variable=$value")
done
for name in http_proxy https_proxy no_proxy; do
  [ -z "${!name:-}" ] || index+=("$name=${!name}")
done
certificates=/etc/ssl/certs/ca-certificates.crt

# in_root ROOT USER COMMAND …
in_root() {
  local root=$1 user=$2
  shift 2
  # shellcheck disable=SC2016  # for the inner shell
  "${apart[@]}" sh -c '
    mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && shift && "$@"
    exit $?' "$root" - \
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/home/judgesheet \
    LANG=C.UTF-8 PIP_CERT="$certificates" "${index[@]}" \
    chroot --userspec="$user" "$root" sh -c 'cd /home/judgesheet && exec "$@"' - "$@" </dev/null
}

summary=()
failed=0
# timed SUITE COMMAND …: run it there as root; its last lines and its time go into the summary.
timed() {
  local suite=$1 began=$SECONDS result=ok
  shift
  in_root "$work/$suite" root:root "$@" 2>&1 | tee "$work/log" || { result=FAILED; failed=1; }
  summary+=("$suite: $* $result in $((SECONDS - began)) s" "  $(tail -n 1 "$work/log")")
}

for suite in "$@"; do
  root=$work/$suite
  echo "== $suite"
  "${apart[@]}" --mount-proc debootstrap --variant=minbase \
    --include=ca-certificates,make,git,python3,python3-venv "$suite" "$root" "$mirror" \
    >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; exit 1; }
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  cp "$certificates" "$root$certificates"
  apt-config dump | grep -E '^Acquire::(https?|Check)' >"$root/etc/apt/apt.conf.d/host" || true
  git clone -q "$here" "$root/home/judgesheet"
  git -C "$root/home/judgesheet" checkout -q --detach "$(git -C "$here" rev-parse HEAD)"
  summary+=("$suite: $(in_root "$root" root:root python3 --version)")

  # Who may install nothing is told what is missing, before anything is downloaded.
  chown -R 65534:65534 "$root/home/judgesheet"
  first=$(in_root "$root" 65534:65534 make demo 2>/dev/null | head -n 1) || true
  summary+=("$suite: make demo as nobody says: $first")
  [[ $first == libgomp.so.1\ is\ missing* ]] || failed=1
  chown -R 0:0 "$root/home/judgesheet"
  rm -rf "$root/home/judgesheet/.venv"

  timed "$suite" make demo
  timed "$suite" test -f demo/datasheet.pdf
  # Without Pango a probe ends well and writes the rest.
  timed "$suite" apt-get -qq -y remove libpango-1.0-0
  timed "$suite" .venv/bin/judgesheet probe --model sim/fair --profile smoke --out bare
  timed "$suite" sh -c 'test -f bare/datasheet.html && test ! -e bare/datasheet.pdf'
  timed "$suite" make pango
  timed "$suite" make test
done

echo
printf '%s\n' "${summary[@]}"
exit "$failed"
