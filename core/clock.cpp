#include "core/clock.hpp"

#include <algorithm>

namespace restante {

namespace {

using namespace std::chrono;

class steady final : public clock {
public:
    time_point now() const override { return steady_clock::now(); }
};

void put_digits(char* at, unsigned value, int width)
{
    for (int i = width - 1; i >= 0; --i, value /= 10)
        at[i] = static_cast<char>('0' + value % 10);
}

// Consumes recognised input from the front of the text; after the first mismatch ok() stays false.
class reader {
public:
    explicit reader(std::string_view text) : rest_(text) {}

    bool ok() const { return ok_; }
    bool at_end() const { return rest_.empty(); }
    char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
    bool at_digit() const { return peek() >= '0' && peek() <= '9'; }

    void expect(std::string_view one_of)
    {
        if (rest_.empty() || one_of.find(rest_.front()) == std::string_view::npos)
            ok_ = false;
        else
            rest_.remove_prefix(1);
    }

    int digits(int width, int least, int most)
    {
        int value = 0;
        for (int i = 0; i < width && ok_; ++i) {
            const char c = peek();
            expect("0123456789");
            value = value * 10 + (c - '0');
        }
        if (value < least || value > most)
            ok_ = false;
        return value;
    }

private:
    std::string_view rest_;
    bool ok_ = true;
};

microseconds read_fraction(reader& in)
{
    int micros = 0;
    int digits = 0;
    for (; in.ok() && in.at_digit(); ++digits) {
        const int digit = in.digits(1, 0, 9);
        if (digits < 6)
            micros = micros * 10 + digit;
    }
    for (int i = digits; i < 6; ++i)
        micros *= 10;
    if (digits == 0 || digits > 9)
        in.expect("");
    return microseconds(micros);
}

minutes read_offset(reader& in)
{
    const char sign = in.peek();
    in.expect("Zz+-");
    if (sign != '+' && sign != '-')
        return minutes(0);
    const int hour = in.digits(2, 0, 23);
    in.expect(":");
    const minutes offset(hour * 60 + in.digits(2, 0, 59));
    return sign == '-' ? -offset : offset;
}

}  // namespace

const clock& real_clock()
{
    static const steady instance;
    return instance;
}

void append_rfc3339(std::string& out, timestamp when)
{
    constexpr timestamp first = sys_days(year(0) / 1 / 1);
    constexpr timestamp last = timestamp(sys_days(year(10000) / 1 / 1)) - microseconds(1);
    when = std::clamp(when, first, last);

    const auto day = floor<days>(when);
    const year_month_day date(day);
    const hh_mm_ss time(when - day);

    char text[] = "0000-00-00T00:00:00.000000Z";
    put_digits(text, static_cast<unsigned>(static_cast<int>(date.year())), 4);
    put_digits(text + 5, static_cast<unsigned>(date.month()), 2);
    put_digits(text + 8, static_cast<unsigned>(date.day()), 2);
    put_digits(text + 11, static_cast<unsigned>(time.hours().count()), 2);
    put_digits(text + 14, static_cast<unsigned>(time.minutes().count()), 2);
    put_digits(text + 17, static_cast<unsigned>(time.seconds().count()), 2);
    put_digits(text + 20, static_cast<unsigned>(time.subseconds().count()), 6);
    out.append(text, sizeof text - 1);
}

std::string rfc3339(timestamp when)
{
    std::string out;
    append_rfc3339(out, when);
    return out;
}

std::optional<timestamp> parse_rfc3339(std::string_view text)
{
    reader in(text);
    const int y = in.digits(4, 0, 9999);
    in.expect("-");
    const int m = in.digits(2, 1, 12);
    in.expect("-");
    const int d = in.digits(2, 1, 31);
    in.expect("Tt");
    const int hour = in.digits(2, 0, 23);
    in.expect(":");
    const int minute = in.digits(2, 0, 59);
    in.expect(":");
    const int second = in.digits(2, 0, 59);
    microseconds fraction(0);
    if (in.peek() == '.') {
        in.expect(".");
        fraction = read_fraction(in);
    }
    const minutes offset = read_offset(in);

    const year_month_day date(year(y), month(static_cast<unsigned>(m)), day(static_cast<unsigned>(d)));
    if (!in.ok() || !in.at_end() || !date.ok())
        return std::nullopt;
    return timestamp(sys_days(date)) + hours(hour) + minutes(minute) + seconds(second) + fraction - offset;
}

}  // namespace restante
