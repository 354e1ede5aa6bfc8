#include <gtest/gtest.h>

#include <csignal>

int main(int argc, char** argv)
{
    // As the server does: a disconnected peer is an error code, not a signal.
    std::signal(SIGPIPE, SIG_IGN);
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
