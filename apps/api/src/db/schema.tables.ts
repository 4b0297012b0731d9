/** All tables, for generating migrations and for the test that compares them with the database. */
export * from "./db.tables.ts";
export * from "../http/idempotency.tables.ts";
export * from "../markets/prices/price-exposure.tables.ts";
export * from "../balances/ledger.tables.ts";
export * from "../balances/reservations.tables.ts";
export * from "../balances/top-ups.tables.ts";
export * from "../balances/claims.tables.ts";
export * from "../requests/requests.tables.ts";
export * from "../requests/history/history.tables.ts";
export * from "../callers/callers.tables.ts";
export * from "../deposits/deposits.tables.ts";
export * from "../deposits/addresses/deposit-addresses.tables.ts";
export * from "../payments/payments.tables.ts";
export * from "../payments/sends.tables.ts";
export * from "../payments/policy/policy.tables.ts";
export * from "../payments/executions.tables.ts";
export * from "../executions/fast-fills.tables.ts";
export * from "../settlement/settlement.tables.ts";
export * from "../settlement/nonce-mappings/nonce-mappings.tables.ts";
export * from "../push/webhooks.tables.ts";
export * from "../notices/notices.tables.ts";

export * from "../reconcile/archive/archive.tables.ts";
