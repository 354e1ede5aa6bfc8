#include "storage/content/s3/answers.hpp"

#include "core/decimal.hpp"
#include "storage/content/s3/xml.hpp"

#include <utility>

namespace restante::s3 {

namespace {

void append_escaped(std::string& out, std::string_view text)
{
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            // A bare one reaches the other side as a line feed: that would name another key.
            case '\r': out += "&#13;"; break;
            default: out += c;
        }
    }
}

class listing_reader {
public:
    void take(std::string_view path, std::string_view text)
    {
        if (path == "ListBucketResult/Contents/Key")
            current_.key = text;
        else if (path == "ListBucketResult/Contents/Size")
            set(current_.size, parse_decimal(text));
        else if (path == "ListBucketResult/Contents/LastModified")
            set(current_.modified, parse_rfc3339(text));
        else if (path == "ListBucketResult/Contents")
            finish_object();
        else if (path == "ListBucketResult/IsTruncated")
            truncated_ = text == "true";
        else if (path == "ListBucketResult/NextContinuationToken")
            read_.next = text;
        else if (path == "ListBucketResult")
            complete_ = true;
    }

    std::optional<listing> finish()
    {
        if (!complete_ || !valid_ || truncated_ == read_.next.empty())
            return std::nullopt;
        return std::move(read_);
    }

private:
    template <class T>
    void set(T& to, const std::optional<T>& value)
    {
        valid_ = valid_ && value;
        to = value.value_or(T{});
    }

    void finish_object()
    {
        valid_ = valid_ && !current_.key.empty();
        read_.objects.push_back(std::move(current_));
        current_ = {};
    }

    listing read_;
    listed_object current_;
    bool truncated_ = false;
    bool complete_ = false;
    bool valid_ = true;
};

}  // namespace

error_answer parse_error(std::string_view document)
{
    error_answer read;
    const auto take = [&read](std::string_view path, std::string_view text) {
        if (path == "Error/Code")
            read.code = text;
        if (path == "Error/Message")
            read.message = text;
    };
    if (!read_xml(document, take))
        return {};
    return read;
}

std::optional<listing> parse_listing(std::string_view document)
{
    listing_reader reader;
    const auto take = [&reader](std::string_view path, std::string_view text) { reader.take(path, text); };
    if (!read_xml(document, take))
        return std::nullopt;
    return reader.finish();
}

std::optional<std::string> parse_upload_id(std::string_view document)
{
    std::string id;
    const auto take = [&id](std::string_view path, std::string_view text) {
        if (path == "InitiateMultipartUploadResult/UploadId")
            id = text;
    };
    if (!read_xml(document, take) || id.empty())
        return std::nullopt;
    return id;
}

std::optional<std::vector<begun_upload>> parse_uploads(std::string_view document)
{
    std::vector<begun_upload> uploads;
    begun_upload current;
    bool complete = false;
    bool valid = true;
    const auto take = [&](std::string_view path, std::string_view text) {
        if (path == "ListMultipartUploadsResult/Upload/Key")
            current.key = text;
        if (path == "ListMultipartUploadsResult/Upload/UploadId")
            current.id = text;
        if (path == "ListMultipartUploadsResult/Upload/Initiated") {
            const auto when = parse_rfc3339(text);
            valid = valid && when;
            current.begun = when.value_or(timestamp{});
        }
        if (path == "ListMultipartUploadsResult/Upload")
            uploads.push_back(std::exchange(current, {}));
        complete = complete || path == "ListMultipartUploadsResult";
    };
    if (!read_xml(document, take) || !complete || !valid)
        return std::nullopt;
    return uploads;
}

bool is_completed(std::string_view document)
{
    bool completed = false;
    const auto take = [&completed](std::string_view path, std::string_view) {
        completed = completed || path == "CompleteMultipartUploadResult";
    };
    return read_xml(document, take) && completed;
}

std::optional<std::vector<removal_failure>> parse_removals(std::string_view document)
{
    std::vector<removal_failure> failures;
    removal_failure current;
    bool complete = false;
    const auto take = [&](std::string_view path, std::string_view text) {
        if (path == "DeleteResult/Error/Key")
            current.key = text;
        if (path == "DeleteResult/Error/Code")
            current.code = text;
        if (path == "DeleteResult/Error")
            failures.push_back(std::exchange(current, {}));
        complete = complete || path == "DeleteResult";
    };
    if (!read_xml(document, take) || !complete)
        return std::nullopt;
    return failures;
}

std::string make_removal(std::span<const std::string> keys)
{
    std::string body = "<Delete><Quiet>true</Quiet>";
    for (const auto& key : keys) {
        body += "<Object><Key>";
        append_escaped(body, key);
        body += "</Key></Object>";
    }
    return body + "</Delete>";
}

std::string make_completion(std::span<const std::string> etags)
{
    std::string body = "<CompleteMultipartUpload>";
    for (std::size_t i = 0; i < etags.size(); ++i) {
        body += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>";
        append_escaped(body, etags[i]);
        body += "</ETag></Part>";
    }
    return body + "</CompleteMultipartUpload>";
}

}  // namespace restante::s3
