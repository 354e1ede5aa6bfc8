// What every content store has to do, by the S3 store on a real engine.
#include "test/support/content_conformance.hpp"
#include "test/support/s3.hpp"

namespace restante::test {
namespace {

// The engine is not asked before a test runs: tests are also only listed.
store_kind s3_kind()
{
    return {"s3", [](executor ex) -> std::unique_ptr<content_store> {
                static std::vector<std::unique_ptr<s3_bucket>> buckets;
                buckets.push_back(open_s3_bucket(s3_test_options()));
                return std::make_unique<s3_store>(ex, *buckets.back());
            }};
}

INSTANTIATE_TEST_SUITE_P(s3, content_conformance, ::testing::Values(s3_kind()), conformance_name);

}  // namespace
}  // namespace restante::test
