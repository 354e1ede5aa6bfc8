# shellcheck shell=bash
# Shared by ./start and ./check. To be sourced, from the top of the tree.

say() {
    printf '%s\n' "$*" >&2
}

fail() {
    say "$@"
    exit 1
}

# missing_packages LIST…: prints the packages in these files that are not installed.
missing_packages() {
    local name
    while read -r name; do
        [[ -z $name || $name == \#* ]] && continue
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] ||
            printf '%s\n' "$name"
    done < <(cat "$@")
}

# install_packages LIST…: as root or with sudo; prints the command to run if neither works.
install_packages() {
    if ! command -v dpkg-query >/dev/null; then
        say "This is not Debian: install the equivalents of $* yourself; vcpkg.json names the libraries."
        return
    fi
    local missing by_hand
    mapfile -t missing < <(missing_packages "$@")
    [[ ${#missing[@]} -gt 0 ]] || return 0

    by_hand="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    local as_root=()
    if [[ $EUID -ne 0 ]]; then
        command -v sudo >/dev/null || fail "Some packages are missing, and there is no sudo here. As root, run:
  $by_hand"
        as_root=(sudo)
    fi
    say "Installing ${#missing[@]} packages: ${missing[*]}"
    "${as_root[@]}" apt-get update -q || say "apt-get update failed; continuing with the existing package lists."
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends "${missing[@]}" ||
        fail "apt-get could not install the packages; see its message above. Debian 12 has all of them. To do it
by hand, run as root:
  $by_hand"
}

# build PRESET [TARGET…]: configures once; later runs only compile what changed.
build() {
    local preset=$1 target arguments=()
    shift
    if [[ ! -f build/$preset/build.ninja ]]; then
        say "Building in build/$preset. The first build takes minutes; later ones compile only what changed."
        cmake --preset "$preset" || fail "CMake could not configure the build; see its message above.
Required packages are listed in scripts/packages and scripts/packages-test. To start over: rm -rf build/$preset"
    fi
    for target in "$@"; do
        arguments+=(--target "$target")
    done
    cmake --build --preset "$preset" "${arguments[@]}" || fail "The build failed; see the first error above.
If it mentions files that no longer exist, start over: rm -rf build/$preset"
}
