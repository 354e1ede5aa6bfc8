#pragma once

namespace restante {

class content_stores;
class fetch_stamps;
class pending_uploads;
class task_group;
struct spool_budget;

// What the handlers of staged files work with.
struct files_services {
    pending_uploads& uploads;
    fetch_stamps& stamps;
    spool_budget& spools;
    content_stores& contents;
    task_group& requests;
    bool serve_acked = false;  // an acked file can be fetched until the sweep takes it: --content-after-ack
};

}  // namespace restante
