#pragma once

#include "server/api/uploads/form_reader.hpp"

namespace restante {

class authenticator;
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
    running_keys& keys;
    staging& stage;
    upload_metrics& metrics;
    push_services& push;
};

}  // namespace restante
