#pragma once

namespace restante {

class authenticator;
class parked_receipts;
class receipt_store;
class task_group;

// What the handler of receipts works with.
struct receipts_services {
    authenticator& auth;
    receipt_store& receipts;
    parked_receipts& waiting;
    task_group& requests;  // its stop_callback ends waiting requests when the server stops
};

}  // namespace restante
