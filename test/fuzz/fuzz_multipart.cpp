// A form must parse the same however it is split, with work in proportion to its length.
//
// Input: one byte that chooses the boundary (its top bit) and the number of pieces, one byte for the length
// of each piece, then the body.

#include "test/fuzz/require.hpp"
#include "test/support/form_reading.hpp"

#include <cstdint>

using namespace restante::multipart;

namespace {

void check_work(std::string_view body, const boundary& separator)
{
    parser from(separator);
    form_reading ignored;
    read_block(from, body, ignored);
    // Content is examined at most twice, and each part's delimiter once more.
    require(from.bytes_examined() <= 3 * body.size() + 100);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const boundary separators[] = {make_boundary("b"), make_boundary("--bound ary-")};

    std::string_view input(reinterpret_cast<const char*>(data), size);
    if (input.empty())
        return 0;
    const auto choice = static_cast<unsigned char>(input[0]);
    input.remove_prefix(1);
    const auto& separator = separators[choice >> 7];

    std::vector<std::size_t> lengths;
    for (int n = choice & 0x1F; n > 0 && !input.empty(); --n) {
        lengths.push_back(static_cast<unsigned char>(input[0]));
        input.remove_prefix(1);
    }

    const auto whole = read_form(input, separator);
    require(read_form(input, separator, lengths) == whole);
    require(read_form(input, separator, std::vector<std::size_t>(input.size(), 1)) == whole);

    const parser_limits tight{.parts = 2, .header_bytes = 80, .header_lines = 2, .framing_bytes = 200};
    require(read_form(input, separator, lengths, tight) == read_form(input, separator, {}, tight));

    if (whole.accepted)
        for (const auto& part : whole.parts)
            require(part.ended);
    check_work(input, separator);
    return 0;
}
