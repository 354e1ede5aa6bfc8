// The ceiling of bench/compare: what PostgreSQL itself can do, driven by bare libpq with one thread per
// connection and without HTTP.
//
//   ceiling CONNINFO upload|fetch SIZE CONNECTIONS SECONDS
//
// upload  one pipelined transaction per file: BEGIN, the file's row, its activity row numbered from the
//         workspace's head row, COMMIT
// fetch   the content of one of 64 files, in binary
//
// Prints "<n> per second". It works in a schema of its own, which it drops at the end.
#include <libpq-fe.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <endian.h>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int workspace_count = 16;
constexpr int staged_files = 64;

constexpr const char* schema = R"(
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS ceiling CASCADE;
CREATE SCHEMA ceiling;
CREATE TABLE ceiling.head (workspace_id uuid PRIMARY KEY, seq bigint NOT NULL DEFAULT 0)
    WITH (fillfactor = 50);
CREATE TABLE ceiling.file (
    file_id uuid PRIMARY KEY, workspace_id uuid NOT NULL, content bytea NOT NULL, size_bytes bigint NOT NULL,
    filename text NOT NULL, mimetype text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),
    fetched_at timestamptz, acked_at timestamptz,
    expires_at timestamptz NOT NULL DEFAULT now() + interval '24 hours');
ALTER TABLE ceiling.file ALTER content SET STORAGE EXTERNAL;
CREATE INDEX ON ceiling.file (workspace_id, created_at) WHERE acked_at IS NULL;
CREATE INDEX ON ceiling.file (expires_at) WHERE acked_at IS NULL;
CREATE TABLE ceiling.activity (
    id uuid PRIMARY KEY, workspace_id uuid NOT NULL, seq bigint NOT NULL, activity_type text NOT NULL,
    method text, summary text, request_body jsonb, status text, created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (workspace_id, seq));
)";

constexpr const char* add_file =
    "INSERT INTO ceiling.file (file_id, workspace_id, content, size_bytes, filename, mimetype) "
    "VALUES ($1::uuid, $2::uuid, $3::bytea, $4::int8, $5, $6)";

constexpr const char* add_activity =
    "WITH h AS (UPDATE ceiling.head SET seq = seq + 1 WHERE workspace_id = $2::uuid RETURNING seq) "
    "INSERT INTO ceiling.activity "
    "(id, workspace_id, seq, activity_type, method, summary, request_body, status) "
    "SELECT $1::uuid, $2::uuid, seq, 'a2a_receive', 'chat_upload_receive', $3, $4::jsonb, 'ok' FROM h";

constexpr const char* get_file =
    "SELECT content, filename, mimetype, size_bytes FROM ceiling.file "
    "WHERE file_id = $1::uuid AND acked_at IS NULL AND expires_at > now()";

using random_source = std::mt19937_64;

std::string make_uuid(random_source& random)
{
    char out[37];
    const auto high = random(), low = random();
    std::snprintf(out, sizeof out, "%08x-%04x-4%03x-a%03x-%012llx", static_cast<unsigned>(high >> 32),
                  static_cast<unsigned>(high >> 16 & 0xffff), static_cast<unsigned>(high & 0xfff),
                  static_cast<unsigned>(low >> 52), static_cast<unsigned long long>(low & 0xffffffffffffULL));
    return out;
}

std::string make_content(std::size_t size, random_source& random)
{
    std::string content(size, '\0');
    for (auto& byte : content)
        byte = static_cast<char>(random());
    return content;
}

// One connection to PostgreSQL. Any failure ends the program with PostgreSQL's message.
class session {
public:
    explicit session(const char* conninfo) : connection_(PQconnectdb(conninfo))
    {
        if (PQstatus(connection_) != CONNECTION_OK)
            die();
    }
    ~session() { PQfinish(connection_); }
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    PGconn* handle() const { return connection_; }

    void run(const char* sql)
    {
        PGresult* result = PQexec(connection_, sql);
        const auto status = PQresultStatus(result);
        PQclear(result);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            die();
    }

    void prepare(const char* name, const char* sql)
    {
        PGresult* result = PQprepare(connection_, name, sql, 0, nullptr);
        const auto status = PQresultStatus(result);
        PQclear(result);
        if (status != PGRES_COMMAND_OK)
            die();
    }

    [[noreturn]] void die() const
    {
        std::fprintf(stderr, "ceiling: %s", PQerrorMessage(connection_));
        std::exit(1);
    }

private:
    PGconn* connection_;
};

class uploader {
public:
    uploader(const char* conninfo, const std::string& content) : session_(conninfo), content_(content)
    {
        session_.prepare("begin", "BEGIN");
        session_.prepare("file", add_file);
        session_.prepare("activity", add_activity);
        session_.prepare("commit", "COMMIT");
        PQenterPipelineMode(session_.handle());
    }

    // Returns the new file's id.
    std::string upload(const std::string& workspace)
    {
        const std::string id = make_uuid(random_);
        send("begin");
        send_file(id, workspace);
        send_activity(id, workspace);
        send("commit");
        PQpipelineSync(session_.handle());
        finish_pipeline();
        return id;
    }

private:
    void send(const char* statement)
    {
        PQsendQueryPrepared(session_.handle(), statement, 0, nullptr, nullptr, nullptr, 0);
    }

    void send_file(const std::string& id, const std::string& workspace)
    {
        const std::uint64_t size = htobe64(content_.size());
        const char* values[] = {id.c_str(),      workspace.c_str(),
                                content_.data(), reinterpret_cast<const char*>(&size),
                                "f1.bin",        "application/octet-stream"};
        const int lengths[] = {0, 0, static_cast<int>(content_.size()), sizeof size, 0, 0};
        const int formats[] = {0, 0, 1, 1, 0, 0};
        PQsendQueryPrepared(session_.handle(), "file", 6, values, lengths, formats, 0);
    }

    void send_activity(const std::string& id, const std::string& workspace)
    {
        const std::string activity = make_uuid(random_);
        const std::string body = R"({"file_id":")" + id +
                                 R"(","name":"f1.bin","mimeType":"application/octet-stream","size":1,)" +
                                 R"("uri":"platform-pending:)" + workspace + "/" + id + "\"}";
        const char* values[] = {activity.c_str(), workspace.c_str(), "chat_upload_receive: f1.bin",
                                body.c_str()};
        PQsendQueryPrepared(session_.handle(), "activity", 4, values, nullptr, nullptr, 0);
    }

    void finish_pipeline()
    {
        for (;;) {
            PGresult* result = PQgetResult(session_.handle());
            if (!result)
                continue;  // the end of one statement's results
            const auto status = PQresultStatus(result);
            PQclear(result);
            if (status == PGRES_FATAL_ERROR)
                session_.die();
            if (status == PGRES_PIPELINE_SYNC)
                return;
        }
    }

    session session_;
    const std::string& content_;
    random_source random_{std::random_device{}()};
};

class fetcher {
public:
    explicit fetcher(const char* conninfo) : session_(conninfo) { session_.prepare("get", get_file); }

    void fetch(const std::string& file)
    {
        const char* values[] = {file.c_str()};
        PGresult* result = PQexecPrepared(session_.handle(), "get", 1, values, nullptr, nullptr, 1);
        if (PQntuples(result) != 1)
            session_.die();
        PQclear(result);
    }

private:
    session session_;
};

std::vector<std::string> add_workspaces(session& admin, random_source& random)
{
    std::vector<std::string> workspaces;
    for (int i = 0; i < workspace_count; ++i) {
        workspaces.push_back(make_uuid(random));
        admin.run(("INSERT INTO ceiling.head VALUES ('" + workspaces.back() + "')").c_str());
    }
    return workspaces;
}

std::vector<std::string> stage_files(const char* conninfo, const std::vector<std::string>& workspaces,
                                     const std::string& content)
{
    uploader stager(conninfo, content);
    std::vector<std::string> files;
    for (std::size_t i = 0; i < staged_files; ++i)
        files.push_back(stager.upload(workspaces[i % workspaces.size()]));
    return files;
}

// Runs work(thread, stop, done) on every thread for this long. Returns how much was done per second.
template <class Work>
double measure(int connections, int seconds, Work work)
{
    std::atomic<bool> stop{false};
    std::atomic<long> done{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < connections; ++i)
        threads.emplace_back([&, i] { work(static_cast<std::size_t>(i), stop, done); });
    const auto began = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    stop = true;
    for (auto& thread : threads)
        thread.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    return static_cast<double>(done) / took.count();
}

}  // namespace

int main(int argc, char** argv)
{
    const std::string work = argc == 6 ? argv[2] : "";
    if (work != "upload" && work != "fetch") {
        std::fprintf(stderr, "usage: ceiling CONNINFO upload|fetch SIZE CONNECTIONS SECONDS\n");
        return 2;
    }
    const char* conninfo = argv[1];
    const int connections = std::atoi(argv[4]), seconds = std::atoi(argv[5]);
    random_source random{std::random_device{}()};
    const std::string content = make_content(std::strtoul(argv[3], nullptr, 10), random);

    session admin(conninfo);
    admin.run(schema);
    const auto workspaces = add_workspaces(admin, random);
    double rate = 0;
    if (work == "upload") {
        rate = measure(connections, seconds, [&](std::size_t next, auto& stop, auto& done) {
            uploader worker(conninfo, content);
            for (; !stop; ++done)
                worker.upload(workspaces[next++ % workspaces.size()]);
        });
    } else {
        const auto files = stage_files(conninfo, workspaces, content);
        rate = measure(connections, seconds, [&](std::size_t next, auto& stop, auto& done) {
            fetcher worker(conninfo);
            for (; !stop; ++done)
                worker.fetch(files[next++ % files.size()]);
        });
    }
    std::printf("%.1f per second\n", rate);
    admin.run("DROP SCHEMA ceiling CASCADE");
}
