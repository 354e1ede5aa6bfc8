#pragma once

namespace restante {

// What the page is served with: nothing, for it is in the binary.
struct page_services {};

}  // namespace restante
