// What is embedded of web/: whole, small, and without anything that turns text into HTML.
#include "server/api/page/web_files.hpp"

#include "core/encoding.hpp"
#include "core/sha256.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace restante {
namespace {

std::string_view text_of(std::span<const unsigned char> bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string in_tree(std::string_view name)
{
    std::ifstream file("web/" + std::string(name));
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

TEST(web_files, are_those_of_the_tree)
{
    ASSERT_GT(web_files().size(), 20u);
    EXPECT_EQ(web_files().front().name, "index.html");
    for (const auto& file : web_files()) {
        EXPECT_EQ(to_hex(sha256_of(text_of(file.plain))), file.sha256) << file.name;
        if (&file != &web_files().front())
            EXPECT_EQ(text_of(file.plain), in_tree(file.name)) << file.name;
    }
}

TEST(web_files, the_page_names_only_files_that_are_there)
{
    const std::string page(text_of(web_files().front().plain));
    EXPECT_EQ(page.find('@'), std::string::npos);
    EXPECT_EQ(page.find("\"/"), std::string::npos) << "a proxy may have it under a path";
    const std::string prefix = "assets/" + std::string(web_build()) + '/';
    int named = 0;
    for (auto at = page.find(prefix); at != std::string::npos; at = page.find(prefix, at + 1), ++named) {
        const auto name = page.substr(at + prefix.size(), page.find('"', at) - at - prefix.size());
        const auto is_named = [&](const web_file& file) { return file.name == name; };
        EXPECT_TRUE(std::any_of(web_files().begin(), web_files().end(), is_named)) << name;
    }
    EXPECT_GT(named, 8);
}

// Deterministic: no name and no time in the head, which gzip would otherwise write.
TEST(web_files, are_packed_without_a_name_or_a_time)
{
    std::size_t all = 0;
    for (const auto& file : web_files()) {
        ASSERT_GT(file.packed.size(), 18u);
        const std::vector<unsigned char> head(file.packed.begin(), file.packed.begin() + 8);
        EXPECT_EQ(head, (std::vector<unsigned char>{0x1f, 0x8b, 8, 0, 0, 0, 0, 0})) << file.name;
        all += file.packed.size();
    }
    EXPECT_LT(all, 100'000u) << "over the wire, all views together";
}

// A browser with Trusted Types refuses these; the others rely on their absence.
TEST(web_files, no_text_becomes_html)
{
    for (const auto& file : web_files())
        for (const auto* sink :
             {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "srcdoc",
              "eval(", "new Function", "javascript:", "localStorage", "cookie", "createContextualFragment",
              " style=\"", "http://", "https://"}) {
            std::string text(text_of(file.plain));
            for (const std::string allowed : {"http://www.w3.org/2000/svg"})
                for (auto at = text.find(allowed); at != std::string::npos; at = text.find(allowed))
                    text.erase(at, allowed.size());
            EXPECT_EQ(text.find(sink), std::string::npos) << sink << " in " << file.name;
        }
}

}  // namespace
}  // namespace restante
