#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace restante::test {

struct raw_response {
    int status = 0;                             // 0: the connection was closed instead
    std::map<std::string, std::string> fields;  // names in lower case
    std::string body;

    std::string field(const std::string& name) const;
};

// A blocking TCP client that sends exactly the bytes it is given. Every read times out after `patience`
// seconds.
class raw_client {
public:
    explicit raw_client(std::uint16_t port, int patience = 5);
    ~raw_client();
    raw_client(const raw_client&) = delete;
    raw_client& operator=(const raw_client&) = delete;

    int descriptor() const { return socket_; }

    // False if the server accepts no more bytes.
    bool send(std::string_view bytes);
    void finish_sending();
    void reset();

    // One response, with the body that Content-Length announces (none after HEAD).
    raw_response receive(bool head_only = false);
    // Everything up to the end of the connection.
    std::string receive_rest();
    // True if the server closes the connection before sending anything else.
    bool ended() { return receive_rest().empty(); }

private:
    bool fill();

    int socket_;
    std::string buffer_;
    bool at_end_ = false;
};

}  // namespace restante::test
