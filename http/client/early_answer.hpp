#pragma once

#include "http/net/connection.hpp"

#include <functional>
#include <memory>

namespace restante {

// Reads what a server sends while a request is still being sent to it, and calls back once with the first
// bytes of an answer, or the end of the connection. Answers of 1xx are stepped over. The bytes are left in
// connection::input; a failure to read shows again at the next read.
class early_answer {
public:
    early_answer(connection& conn, std::function<void()> on_answer);
    ~early_answer();
    early_answer(const early_answer&) = delete;
    early_answer& operator=(const early_answer&) = delete;

private:
    struct watch;
    std::shared_ptr<watch> watch_;
};

}  // namespace restante
