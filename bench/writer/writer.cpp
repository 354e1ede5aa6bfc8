// What the disk and PostgreSQL can do without a server, for bench/run content: threads that write files.
//
//   writer CONNINFO stored|synced SIZE WRITERS SECONDS DIRECTORY
//
// stored  a file without a name, its bytes, fdatasync, a name, fsync of the directory, one committed row
// synced  a new file, its bytes, fsync
//
// Prints files a second, files, and microseconds of its own CPU for each. Bytes come from memory, and nothing
// is hashed. It removes its table; its files stay.
#include <libpq-fe.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <random>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr const char* table =
    "SET client_min_messages = warning; DROP TABLE IF EXISTS bench_written; "
    "CREATE TABLE bench_written (file_id bigint PRIMARY KEY, content_key text NOT NULL, size_bytes bigint NOT NULL, "
    "created_at timestamptz NOT NULL DEFAULT now())";
constexpr const char* add_row =
    "INSERT INTO bench_written (file_id, content_key, size_bytes) VALUES ($1, $2, $3)";

[[noreturn]] void die(const char* what)
{
    std::perror(what);
    std::exit(1);
}

void require(bool done, const char* what)
{
    if (!done)
        die(what);
}

class session {
public:
    explicit session(const char* conninfo) : connection_(PQconnectdb(conninfo))
    {
        check(PQstatus(connection_) == CONNECTION_OK);
    }
    ~session() { PQfinish(connection_); }
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    void run(const char* sql) { finish(PQexec(connection_, sql)); }
    void prepare(const char* name, const char* sql) { finish(PQprepare(connection_, name, sql, 0, nullptr)); }
    void add(long number, const std::string& key, std::size_t size)
    {
        const auto id = std::to_string(number), bytes = std::to_string(size);
        const char* values[] = {id.c_str(), key.c_str(), bytes.c_str()};
        finish(PQexecPrepared(connection_, "add", 3, values, nullptr, nullptr, 0));
    }

private:
    void check(bool good) const
    {
        if (good)
            return;
        std::fprintf(stderr, "writer: %s", PQerrorMessage(connection_));
        std::exit(1);
    }
    void finish(PGresult* result)
    {
        const auto status = PQresultStatus(result);
        PQclear(result);
        check(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK);
    }

    PGconn* connection_;
};

void write_all(int file, const std::string& bytes)
{
    for (std::size_t done = 0; done < bytes.size();) {
        const auto n = ::write(file, bytes.data() + done, bytes.size() - done);
        require(n > 0, "write");
        done += static_cast<std::size_t>(n);
    }
}

std::string name_of(long number)
{
    return "written-" + std::to_string(number);
}

void store(int folder, session& db, long number, const std::string& bytes)
{
    const int file = ::openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    require(file >= 0, "O_TMPFILE");
    write_all(file, bytes);
    require(::fdatasync(file) == 0, "fdatasync");
    const auto from = "/proc/self/fd/" + std::to_string(file);
    const auto name = name_of(number);
    require(::linkat(AT_FDCWD, from.c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW) == 0, "linkat");
    require(::fsync(folder) == 0, "fsync of the directory");
    ::close(file);
    db.add(number, name, bytes.size());
}

void write_and_sync(int folder, long number, const std::string& bytes)
{
    const int file = ::openat(folder, name_of(number).c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    require(file >= 0, "open");
    write_all(file, bytes);
    require(::fsync(file) == 0, "fsync");
    ::close(file);
}

double cpu_us()
{
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto us = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
    };
    return us(used.ru_utime) + us(used.ru_stime);
}

}  // namespace

int main(int argc, char** argv)
{
    const std::string work = argc == 7 ? argv[2] : "";
    if (work != "stored" && work != "synced") {
        std::fprintf(stderr, "usage: writer CONNINFO stored|synced SIZE WRITERS SECONDS DIRECTORY\n");
        return 2;
    }
    std::string bytes(std::strtoul(argv[3], nullptr, 10), '\0');
    std::mt19937_64 random{std::random_device{}()};
    for (auto& byte : bytes)
        byte = static_cast<char>(random());
    const int folder = ::open(argv[6], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(folder >= 0, argv[6]);
    session admin(argv[1]);
    admin.run(table);

    std::atomic<bool> stop{false};
    std::atomic<long> next{0}, done{0};
    std::vector<std::thread> writers;
    for (int i = 0; i < std::atoi(argv[4]); ++i)
        writers.emplace_back([&] {
            session db(argv[1]);
            db.prepare("add", add_row);
            for (; !stop; ++done) {
                if (work == "stored")
                    store(folder, db, next++, bytes);
                else
                    write_and_sync(folder, next++, bytes);
            }
        });
    const auto began = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(argv[5])));
    stop = true;
    for (auto& writer : writers)
        writer.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    std::printf("%.1f %ld %.0f\n", static_cast<double>(done) / took.count(), done.load(),
                cpu_us() / static_cast<double>(done));
    admin.run("DROP TABLE bench_written");
}
