#pragma once

namespace restante {

class fetch_stamps;
class pending_uploads;
struct spool_budget;

// What the handlers of staged files work with.
struct files_services {
    pending_uploads& uploads;
    fetch_stamps& stamps;
    spool_budget& spools;
};

}  // namespace restante
