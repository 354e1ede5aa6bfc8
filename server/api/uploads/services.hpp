#pragma once

#include "server/api/uploads/form_reader.hpp"

namespace restante {

class authenticator;
class content_stores;
class quota_gate;
class running_keys;
struct spool_budget;
class staging;
class upload_metrics;
struct push_services;

// What the upload handler works with.
struct upload_services {
    form_limits limits;
    authenticator& auth;
    spool_budget& spools;
    const content_stores& contents;
    std::optional<store_directory> received_in;  // the directory of the content store, where it has one
    running_keys& keys;
    quota_gate& quotas;
    staging& stage;
    upload_metrics& metrics;
    push_services& push;
};

}  // namespace restante
