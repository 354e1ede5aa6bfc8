#pragma once

#include "server/api/uploads/form_reader.hpp"

namespace restante {

class authenticator;
class running_keys;
struct spool_budget;
class staging;
class upload_metrics;

// What the upload handler works with.
struct upload_services {
    form_limits limits;
    authenticator& auth;
    spool_budget& spools;
    running_keys& keys;
    staging& stage;
    upload_metrics& metrics;
};

}  // namespace restante
