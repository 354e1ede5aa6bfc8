#include "client/multipart_body.hpp"
#include "client/progress_text.hpp"
#include "client/sender.hpp"
#include "test/support/run.hpp"
#include "test/support/temporary_directory.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include <fstream>

namespace restante::client {
namespace {

using namespace std::chrono_literals;

TEST(client_send, as_many_files_as_fit_go_into_one_request)
{
    const std::uint64_t MiB = 1 << 20;
    EXPECT_EQ(batch_sizes({}), std::vector<std::size_t>{});
    EXPECT_EQ(batch_sizes({25 * MiB, 25 * MiB, 1}), (std::vector<std::size_t>{2, 1}));
    EXPECT_EQ(batch_sizes({60 * MiB, 1}), (std::vector<std::size_t>{1, 1}))
        << "the server says that it is too large";
    EXPECT_EQ(batch_sizes(std::vector<std::uint64_t>(130, 1)), (std::vector<std::size_t>{64, 64, 2}));
}

TEST(client_send, names_cannot_break_out_of_the_form)
{
    EXPECT_EQ(form_name("a\"; name=\"x\r\nb"), "a%22; name=%22x__b");
    EXPECT_EQ(form_name("é.txt"), "é.txt");
}

TEST(client_send, types_are_guessed_by_extension)
{
    EXPECT_EQ(guess_mime_type("a.PNG"), "image/png");
    EXPECT_EQ(guess_mime_type("a.tar.gz"), "application/gzip");
    EXPECT_EQ(guess_mime_type("Makefile"), "");
    EXPECT_EQ(guess_mime_type("a.xyz"), "");
}

class client_form : public ::testing::Test {
protected:
    outcome<std::vector<outgoing_file>> open(const std::string& name, const std::string& bytes)
    {
        const auto path = (folder.path() / name).string();
        std::ofstream(path) << bytes;
        return open_outgoing({path}, "");
    }

    // Everything that the body gives out, and whether it came to its end.
    std::pair<std::string, bool> read(multipart_body& body)
    {
        std::string all;
        bool ended = false;
        test::run([&]() -> awaitable<void> {
            for (;;) {
                const auto piece = co_await body.next();
                if (!piece)
                    co_return;
                ended = piece->empty();
                if (ended)
                    co_return;
                all.append(piece->data(), piece->size());
            }
        });
        return {all, ended};
    }

    test::temporary_directory folder;
    worker_pool workers{1};
    progress_display progress{false};
};

TEST_F(client_form, the_form_is_as_long_as_it_says)
{
    const auto files = open("a.txt", std::string(300'000, 'x'));
    ASSERT_TRUE(files);
    multipart_body body(*files, "B", workers, progress);
    const auto [text, ended] = read(body);
    EXPECT_TRUE(ended);
    EXPECT_EQ(body.length(), text.size());
    EXPECT_TRUE(
        text.starts_with("--B\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.txt\"\r\n"
                         "Content-Type: text/plain\r\n\r\nxxx"));
    EXPECT_TRUE(text.ends_with("xxx\r\n--B--\r\n"));
    EXPECT_EQ(body.digests().size(), 1u);
}

TEST_F(client_form, a_file_that_shrinks_breaks_the_request_off)
{
    const auto files = open("a", std::string(300'000, 'x'));
    std::filesystem::resize_file(folder.path() / "a", 10);
    multipart_body body(*files, "B", workers, progress);
    EXPECT_FALSE(read(body).second);
}

TEST_F(client_form, what_cannot_be_sent_is_said_before_anything_is)
{
    EXPECT_EQ(open_outgoing({folder.path() / "absent"}, "").error().code, "cannot_read");
    EXPECT_EQ(open_outgoing({folder.path()}, "").error().code, "cannot_read");
}

TEST(client_send, the_message_names_the_files)
{
    const auto files =
        boost::json::parse(R"([{"uri":"platform-pending:x/y","name":"a","mimeType":"text/plain","size":1}])");
    const auto text = boost::json::parse(make_message("look", files.get_array(), "id-1"));
    const auto& message = text.at("params").at("message");
    EXPECT_EQ(message.at("messageId"), "id-1");
    EXPECT_EQ(message.at("parts").at(0).at("text"), "look");
    EXPECT_EQ(message.at("parts").at(1).at("file").at("uri"), "platform-pending:x/y");
    EXPECT_EQ(message.at("parts").at(1).at("file").at("mimeType"), "text/plain");
}

TEST(client_progress, a_line_fits_into_the_terminal)
{
    const transfer_view half{"holiday photo of the whole family.jpg", 5 << 20, 10 << 20, 1 << 20};
    EXPECT_EQ(
        transfer_line(half, 107, false),
        "holiday photo of the wh…  [###############...............]   50%  5.0 MiB of 10.0 MiB  1.0 MiB/s  0:05 left");
    for (std::size_t width = 20; width < 200; ++width) {
        std::size_t columns = 0;
        for (const char c : transfer_line(half, width, false))
            columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
        // Wider than that it does not get.
        EXPECT_LE(columns, std::max<std::size_t>(width, 20)) << width;
    }
    EXPECT_NE(transfer_line(half, 120, true).find("\x1b[32m"), std::string::npos);
    EXPECT_EQ(transfer_line(half, 120, false).find('\x1b'), std::string::npos);
}

TEST(client_progress, a_name_with_control_characters_draws_nothing)
{
    EXPECT_EQ(transfer_line({"a\x1b[2Jb", 0, 1, 0}, 100, false).find('\x1b'), std::string::npos);
}

TEST(client_progress, figures_are_for_people)
{
    EXPECT_EQ(format_bytes(0), "0 B");
    EXPECT_EQ(format_bytes(1023), "1023 B");
    EXPECT_EQ(format_bytes(1536), "1.5 KiB");
    EXPECT_EQ(format_bytes(26'214'400), "25.0 MiB");
    EXPECT_EQ(format_bytes(300ull << 30), "300 GiB");
    EXPECT_EQ(format_seconds(7), "0:07");
    EXPECT_EQ(format_seconds(760), "12:40");
    EXPECT_EQ(format_seconds(3723), "1:02:03");
}

TEST(client_progress, the_rate_is_that_of_the_last_seconds)
{
    rate_meter meter;
    const rate_meter::clock::time_point start{};
    meter.add(0, start);
    for (int i = 1; i <= 100; ++i)
        meter.add(i <= 50 ? 1000 : 0, start + i * 1s);
    EXPECT_LT(meter.rate(start + 100s), 10);
    rate_meter steady;
    for (int i = 0; i <= 10; ++i)
        steady.add(1000, start + i * 1s);
    EXPECT_NEAR(steady.rate(start + 10s), 1000, 300);
}

}  // namespace
}  // namespace restante::client
