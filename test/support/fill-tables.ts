import { getTableName, is } from "drizzle-orm";
import { getTableConfig, PgTable, type PgColumn } from "drizzle-orm/pg-core";
import pg from "pg";
import * as schema from "../../apps/api/src/db/schema.tables.ts";

/** Tables that have few rows on any instance, with the reason. */
export const SMALL_TABLES: Readonly<Record<string, string>> = {
  announcements: "sent, and deleted, within milliseconds",
  api_keys: "created by the operator",
  app_fees_due: "filled requests without a price",
  archives: "one per month",
  chain_blocks: "newest blocks of each chain",
  chain_cursors: "one per chain",
  currency_names: "known tokens",
  deposit_address_funds: "balances that were not swept yet",
  funding_challenges: "one per key and wallet",
  held_payments: "payments that a rule holds now",
  lanes: "one per chain and sender",
  ledger_accounts: "one per wallet of an app and asset",
  notice_alarms: "alarms that no channel got yet",
  notice_states: "one per rule and subject",
  pauses: "set by the operator",
  price_exposure: "one per price",
  [getTableName(schema.nonEvmCursors)]: "one per chain",
  route_timings: "one per pair of chains",
  spent_days: "one per chain, key and day",
  used_contracts: "contracts of the chain files",
  webhook_endpoints: "limited per API key",
};

const oneOf = (...values: readonly string[]): string =>
  `(array['${values.join("','")}'])[i % ${values.length} + 1]`;
const rarely = (rare: string, usual: string): string =>
  `case when i % 200 = 7 then ${rare} else ${usual} end`;
const stateColumn = (usual: string, ...open: readonly string[]): string =>
  rarely(oneOf(...open), `'${usual}'`);
const CHAIN = "(array[1, 10, 8453, 42161])[i % 4 + 1]";
const HASH = "'0x' || md5(i::text) || md5('b' || i)";

/** Columns whose values repeat, by name, or by table and name. */
const VALUES: Readonly<Record<string, string>> = {
  account: oneOf("balance", "pending", "owed"),
  actions: "array['0xab']",
  apart: "false",
  [schema.fastFills.revertedGasUsd.name]: "0",
  canonical: rarely("false", "true"),
  chain_id: CHAIN,
  chain_name: oneOf("one", "two"),
  channel: oneOf("slack", "pager"),
  currency: oneOf("0xe0", "0xc0", "0x00"),
  day: "20000 + i / 100",
  destination_chain_id: CHAIN,
  endpoint: oneOf("/quote", "/status"),
  endpoint_id: "'endpoint' || i % 50",
  ended_at_ms: rarely("null", "i"),
  final: rarely("false", "true"),
  final_at_ms: "i",
  has_events: "true",
  in_block: "i",
  key_id: "'key' || i % 50",
  key_name: oneOf("solver", "allocator"),
  kept: rarely("false", "true"),
  kind: oneOf("bridge", "swap"),
  leg_kind: rarely("'refund'", "'fill'"),
  mined_attempt: "0",
  mined_at_ms: "i",
  mined_block_number: "i",
  mined_status: "'success'",
  minute_ms: "i / 10 * 60000",
  n: "0",
  order_id: HASH,
  ordinal: "0",
  origin_chain_id: CHAIN,
  outcome: "'paid'",
  outflow_currency: oneOf("0xe0", "0xc0"),
  published_at_ms: rarely("null", "i"),
  quoted_chain_id: CHAIN,
  request_id: HASH,
  seq: "i",
  settled: rarely("false", "true"),
  settled_at_ms: "i",
  settlement_noted: rarely("false", "true"),
  slot_id: "i",
  status: "200",
  tx_hash: HASH,
  wallet: "'0x' || i % 50",
  "app_wallets.wallet": HASH,
  "ledger_entries.movement_id": "i",
  "app_top_ups.state": stateColumn("credited", "seen"),
  "claims.state": stateColumn("paid", "offered", "paying"),
  "deposit_sweeps.state": stateColumn("final", "planned", "sent", "mined"),
  "deposits.disposition": rarely("'refund'", "'accepted'"),
  "deposits.refund_state": stateColumn("none", "sent", "final"),
  "fast_fills.cover_state": stateColumn("none", "due"),
  "fee_reservations.state": stateColumn("paid", "open"),
  "holds.state": stateColumn("released", "active"),
  "hub_executions.state": stateColumn("settled", "attested"),
  "nonce_mappings.state": stateColumn("set", "stored", "signed"),
  // Each partition gets some rows.
  "request_events.at_ms": "(extract(epoch from now()) * 1000)::bigint + (i % 3 - 1) * 31 * 86400000::bigint",
  "request_history.status": oneOf("success", "success", "success", "refund"),
  "requests.front": stateColumn("none", "held"),
  "requests.state": stateColumn(
    "filled",
    "quoted",
    "depositing",
    "deposited",
    "fillable",
    "filling",
    "expired",
  ),
  "settlements.state": stateColumn("settled", "due", "attested"),
  "slots.sender": "'0xbe'",
  "slots.state": stateColumn("final", "open", "mined"),
  "webhook_deliveries.state": stateColumn("delivered", "waiting"),
};

function valueOf(table: string, column: PgColumn): string {
  const fixed = VALUES[`${table}.${column.name}`] ?? VALUES[column.name];
  const type = column.getSQLType();
  if (fixed !== undefined) return `(${fixed})::${type}`;
  if (!column.notNull) return `(${rarely(distinctValue(type), "null")})::${type}`;
  return `(${distinctValue(type)})::${type}`;
}

function distinctValue(type: string): string {
  if (type === "boolean") return rarely("true", "false");
  if (type.endsWith("[]")) return "'{}'";
  if (type.startsWith("timestamp")) return "now() - i * interval '1 second'";
  if (type === "text") return HASH;
  if (type === "bytea") return "decode(md5(i::text), 'hex')";
  return "i::text";
}

/**
 * Writes `rows` rows into each table that grows, distributed as on a busy instance, and analyzes all tables.
 * Use it only for query plans, because rows of different tables do not belong together.
 */
export async function fillTables(databaseUrl: string, rows: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await fill(client, rows);
  } finally {
    await client.end();
  }
}

async function fill(client: pg.Client, rows: number): Promise<void> {
  const { rows: checks } = await client.query<{ drop: string }>(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop from pg_constraint
     where contype = 'c' and connamespace = 'public'::regnamespace and conislocal`,
  );
  for (const { drop } of checks) await client.query(drop);
  // Disables foreign keys and triggers.
  await client.query("set session_replication_role = replica");
  for (const table of growingTables()) {
    const { name, columns } = getTableConfig(table);
    const written = columns.filter((column) => column.generatedIdentity === undefined);
    await client.query(
      `insert into ${name} (${written.map((column) => `"${column.name}"`).join(", ")})
       select ${written.map((column) => valueOf(name, column)).join(", ")} from generate_series(1, ${rows}) i
       on conflict do nothing`,
    );
  }
  await client.query("vacuum (analyze)");
}

function growingTables(): PgTable[] {
  const exportedValues: readonly unknown[] = Object.values(schema);
  return exportedValues
    .filter((exported): exported is PgTable => is(exported, PgTable))
    .filter((table) => SMALL_TABLES[getTableConfig(table).name] === undefined);
}
