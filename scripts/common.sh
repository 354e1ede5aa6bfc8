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

# install_node_packages: what test/e2e/node/package-lock.json pins, if that has changed. An npm that did not come from
# Debian is as good, and does not go together with Debian's.
install_node_packages() {
    local lock=test/e2e/node/package-lock.json installed=test/e2e/node/node_modules/.installed
    cmp -s "$lock" "$installed" && return 0
    command -v npm >/dev/null || install_packages scripts/packages-node
    say "Installing the JavaScript clients that the end-to-end tests drive."
    (cd test/e2e/node && npm ci --ignore-scripts --no-audit --no-fund >&2) ||
        fail "npm could not install the packages of test/e2e/node; see its message above."
    cp "$lock" "$installed"
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

# test_pattern NAME: ctest's pattern for the tests of a file, when NAME is one under test/ without its folder and ending
# (test_upload, staging_test); else NAME itself.
test_pattern() {
    local name=$1 suites
    if [[ $name == test_* && -f test/e2e/$name.py ]]; then
        printf '^e2e\\.%s$\n' "${name#test_}"
        return
    fi
    suites=$({ cat test/{unit,integration}/"$name".cpp 2>/dev/null || true; } |
        sed -nE 's/^TEST(_F)?\((\w+),.*/\2/p' | sort -u | paste -sd '|')
    if [[ -n $suites ]]; then
        printf '^(unit|integration)\\.(%s)\\.\n' "$suites"
    else
        printf '%s\n' "$name"
    fi
}
