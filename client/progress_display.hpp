#pragma once

#include "client/progress_text.hpp"

#include <list>
#include <memory>

namespace restante::client {

// The transfers under way, as bars at the bottom of the terminal that is stderr, and the whole below them. On
// anything else it draws nothing.
class progress_display {
public:
    using clock = std::chrono::steady_clock;

    class transfer;

    // `wanted`: not when the output is for a program.
    explicit progress_display(bool wanted);
    ~progress_display() { erase(); }
    progress_display(const progress_display&) = delete;
    progress_display& operator=(const progress_display&) = delete;

    bool is_on() const { return on_; }
    // What is behind those under way, until the next of them begins.
    void set_waiting(amount files) { waiting_ = files; }
    void set_finished(amount files) { finished_ = files; }
    std::unique_ptr<transfer> begin(std::string name, std::uint64_t size, std::uint64_t done);

    // Before anything else is written to the terminal; the next draw() brings the bars back.
    void erase();
    void draw();

private:
    struct entry {
        transfer_view view;
        rate_meter meter;
    };

    whole_view whole(clock::time_point now) const;

    bool on_;
    bool color_;
    std::list<entry> entries_;
    amount finished_;
    amount waiting_;
    rate_meter meter_;       // of all
    std::size_t lines_ = 0;  // drawn
};

// One bar. It disappears with this.
class progress_display::transfer {
public:
    transfer(progress_display& owner, std::list<entry>::iterator which) : owner_(owner), which_(which) {}
    ~transfer();
    transfer(const transfer&) = delete;
    transfer& operator=(const transfer&) = delete;

    void advance(std::uint64_t bytes);
    void set_done(std::uint64_t bytes) { which_->view.done = bytes; }
    void complete() { complete_ = true; }

private:
    progress_display& owner_;
    std::list<entry>::iterator which_;
    bool complete_ = false;
};

}  // namespace restante::client
