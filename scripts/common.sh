# shellcheck shell=bash
# What ./start and ./check share. To be sourced, from the top of the tree.

say() {
    printf '%s\n' "$*" >&2
}

fail() {
    say "$@"
    exit 1
}

# missing_packages LIST…: which packages of these files this machine lacks.
missing_packages() {
    local name
    while read -r name; do
        [[ -z $name || $name == \#* ]] && continue
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] ||
            printf '%s\n' "$name"
    done < <(cat "$@")
}

# install_packages LIST…: as root or with sudo; with neither, says what somebody else has to run.
install_packages() {
    if ! command -v dpkg-query >/dev/null; then
        say "This is no Debian: install the equivalents of $* yourself; vcpkg.json helps."
        return
    fi
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [[ ${#missing[@]} -gt 0 ]] || return 0

    local as_root=()
    if [[ $EUID -ne 0 ]]; then
        command -v sudo >/dev/null || fail "Some packages are missing, and there is no sudo here. As root, run:
  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
        as_root=(sudo)
    fi
    say "Installing ${#missing[@]} packages: ${missing[*]}"
    "${as_root[@]}" apt-get update -q || say "apt-get update failed; trying with the lists that are here."
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends "${missing[@]}" ||
        fail "apt-get could not install them; its message stands above. Debian 12 has all of them."
}

# build PRESET [TARGET…]: configures once; later runs compile only what changed.
build() {
    local preset=$1 target arguments=()
    shift
    if [[ ! -f build/$preset/build.ninja ]]; then
        say "Building in build/$preset. The first time takes minutes; later only what changed is compiled."
        cmake --preset "$preset" || fail "CMake could not configure the build; its message stands above.
If a package is missing, scripts/packages and packages-test have their names. To begin anew: rm -rf build/$preset"
    fi
    for target in "$@"; do
        arguments+=(--target "$target")
    done
    cmake --build --preset "$preset" "${arguments[@]}" || fail "The build failed; the first error stands above.
If it speaks of files that are gone, begin anew: rm -rf build/$preset"
}
