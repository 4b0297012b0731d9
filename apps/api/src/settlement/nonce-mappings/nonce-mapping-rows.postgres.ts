import type { Address, Hex, OrderId, RequestId } from "@causeway/domain";
import { and, asc, eq, getTableColumns, sql as text, type SQL } from "drizzle-orm";
import type {
  NonceMappingRecord,
  NonceMappingState,
  NonceMappingStore,
  NonceMappingWrites,
  SignedNonceMapping,
} from "../../chains/nonce-mappings.port.ts";
import {
  defineQuery,
  defineSql,
  type Params,
  defineWrite,
  defineSqlWrite,
} from "../../db/define-query.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { deposits } from "../../deposits/deposits.tables.ts";
import { requests } from "../../requests/requests.tables.ts";
import { slots } from "../../payments/payments.tables.ts";
import { nonceMappings as mappings } from "./nonce-mappings.tables.ts";

type Row = typeof mappings.$inferSelect;
interface Nonce extends Record<string, unknown> {
  readonly chainId: number;
  readonly wallet: Address;
  readonly nonce: bigint;
}
interface DueParams extends Record<string, unknown> {
  readonly nowMs: number;
  readonly limit: number;
}
const find = defineQuery("nonce_mapping_find", (db, p: Params<Nonce>) =>
  db
    .select()
    .from(mappings)
    .where(and(eq(mappings.chainId, p.chainId), eq(mappings.wallet, p.wallet), eq(mappings.nonce, p.nonce))),
);
const isUnsubmittedAndDue = ({ nowMs }: Params<DueParams>): SQL =>
  text`${mappings.slotId} is null and ${mappings.nextTryMs} <= ${nowMs}`;
const toSign = defineQuery("nonce_mapping_to_sign", (db, p: Params<DueParams>) =>
  db
    .select()
    .from(mappings)
    .where(text`${mappings.state} = 'stored' and ${isUnsubmittedAndDue(p)}`)
    .orderBy(asc(mappings.nextTryMs))
    .limit(text.placeholder("limit")),
);
const readToSubmit = defineQuery("nonce_mapping_to_carry", (db, p: Params<DueParams>) =>
  db
    .select()
    .from(mappings)
    .where(text`${mappings.state} = 'signed' and ${isUnsubmittedAndDue(p)}`)
    .orderBy(asc(mappings.nextTryMs), asc(mappings.key))
    .limit(text.placeholder("limit")),
);
const readSubmitted = defineQuery("nonce_mapping_carried", (db, _: Params<{ limit: number }>) =>
  db
    .select({
      ...getTableColumns(mappings),
      slot: {
        id: slots.id,
        chainId: slots.chainId,
        sender: slots.sender,
        nonce: slots.nonce,
        state: slots.state,
      },
    })
    .from(mappings)
    .innerJoin(slots, eq(slots.id, mappings.slotId))
    .where(text`${mappings.state} = 'signed'`)
    .orderBy(asc(mappings.key))
    .limit(text.placeholder("limit")),
);
// Written like the predicates of the partial indexes. A stored mapping has no slot yet.
const isWaiting = text`(${mappings.state} in ('stored', 'signed') and ${mappings.slotId} is null
    or ${mappings.state} = 'signed' and ${mappings.slotId} is not null)`;
const readWaiting = defineSql(
  "nonce_mapping_waiting",
  { state: mappings.state, count: Number, oldestMs: Number },
  () => text`
    select ${mappings.state}, count(*) as count, min(${mappings.createdAtMs}) as oldest_ms from ${mappings}
    where ${isWaiting} group by ${mappings.state}`,
);
const lockWallet = defineSqlWrite(
  "nonce_mapping_lock_wallet",
  ({ wallet }: Params<{ wallet: Address }>) =>
    text`select pg_advisory_xact_lock(hashtextextended('causeway:nonces of ' || ${wallet}::text, 0))`,
);
const readStanding = defineSql(
  "nonce_mapping_standing",
  { isTransferSeen: Boolean, openOfWallet: Number, waiting: Number },
  (p: Params<Nonce & { readonly sinceMs: number }>) => text`select
    exists (select from ${deposits} where ${deposits.chainId} = ${p.chainId} and ${deposits.mappingUntilMs} is not null
      and ${deposits.sender} = ${p.wallet} and ${deposits.walletNonce} = ${p.nonce}) as is_transfer_seen,
    (select count(*) from ${mappings} left join ${requests} on ${requests.requestId} = ${mappings.requestId}
      where ${mappings.chainId} = ${p.chainId} and ${mappings.wallet} = ${p.wallet} and ${mappings.createdAtMs} > ${p.sinceMs}
        and ${requests.depositId} is null) as open_of_wallet,
    (select count(*) from ${mappings} where ${isWaiting}) as waiting`,
);
interface NewMapping extends Nonce {
  readonly mappedId: OrderId;
  readonly depositor: Address;
  readonly requestId: RequestId | null;
  readonly signature: Hex;
  readonly signatureChainId: number;
  readonly atMs: number;
}
const insert = defineQuery("nonce_mapping_insert", (db, p: Params<NewMapping>) =>
  db
    .insert(mappings)
    .values({
      chainId: p.chainId,
      wallet: p.wallet,
      nonce: p.nonce,
      mappedId: p.mappedId,
      depositor: p.depositor,
      requestId: p.requestId,
      signature: p.signature,
      signatureChainId: p.signatureChainId,
      state: "stored",
      nextTryMs: p.atMs,
      createdAtMs: p.atMs,
      updatedAtMs: p.atMs,
    })
    .onConflictDoNothing({ target: [mappings.chainId, mappings.wallet, mappings.nonce] })
    .returning({ key: mappings.key }),
);
const writeSigned = defineWrite(
  "nonce_mapping_signed",
  (db, p: Params<{ key: string; hubSignature: Hex; atMs: number }>) =>
    db
      .update(mappings)
      .set({
        state: "signed",
        hubSignature: p.hubSignature,
        reason: null,
        nextTryMs: p.atMs,
        updatedAtMs: p.atMs,
      })
      .where(and(eq(mappings.key, p.key), text`${mappings.state} = 'stored'`)),
);
interface RetryParams extends Record<string, unknown> {
  readonly key: string;
  readonly reason: string;
  readonly nextTryMs: number;
  readonly atMs: number;
}
const retryFields = (p: Params<RetryParams>) => ({
  reason: p.reason,
  tries: text`${mappings.tries} + 1`,
  nextTryMs: p.nextTryMs,
  updatedAtMs: p.atMs,
});
const postpone = defineWrite("nonce_mapping_postpone", (db, p: Params<RetryParams>) =>
  db
    .update(mappings)
    .set(retryFields(p))
    .where(
      text`${mappings.key} = ${p.key} and ${mappings.state} in ('stored', 'signed') and ${mappings.slotId} is null`,
    ),
);
const lockUnsubmittedRows = defineQuery(
  "nonce_mapping_lock_uncarried",
  (db, { keys }: Params<{ keys: readonly string[] }>) =>
    db
      .select({ key: mappings.key })
      .from(mappings)
      .where(
        text`${mappings.key} = any(${keys}::bigint[]) and ${mappings.state} = 'signed' and ${mappings.slotId} is null`,
      )
      .orderBy(asc(mappings.key))
      .for("update"),
);
const writeSlot = defineWrite(
  "nonce_mapping_carry",
  (db, p: Params<{ keys: readonly string[]; slotId: string }>) =>
    db
      .update(mappings)
      .set({ slotId: text`${p.slotId}` })
      .where(text`${mappings.key} = any(${p.keys}::bigint[])`),
);
interface SettleParams extends Record<string, unknown> {
  readonly key: string;
  readonly state: NonceMappingState;
  readonly mappedId: OrderId | null;
  readonly depositor: Address | null;
  readonly setAt: bigint | null;
  readonly atMs: number;
}
const settle = defineWrite("nonce_mapping_settle", (db, p: Params<SettleParams>) =>
  db
    .update(mappings)
    .set({
      state: p.state,
      reason: null,
      hubMappedId: p.mappedId,
      hubDepositor: p.depositor,
      hubSetAt: text`${p.setAt}`,
      updatedAtMs: p.atMs,
    })
    .where(text`${mappings.key} = ${p.key} and ${mappings.state} in ('stored', 'signed')`),
);
const release = defineQuery("nonce_mapping_release", (db, p: Params<RetryParams & { slotId: string }>) =>
  db
    .update(mappings)
    .set({ ...retryFields(p), state: "stored", slotId: null, hubSignature: null })
    .where(
      text`${mappings.key} = ${p.key} and ${mappings.state} = 'signed' and ${mappings.slotId} = ${p.slotId}`,
    )
    .returning({ key: mappings.key }),
);

/** Nonce mappings on a Postgres pool. */
export function nonceMappingStore(sql: Sql): NonceMappingStore {
  return {
    async find(chainId, wallet, nonce) {
      const [row] = await find(sql, { chainId, wallet, nonce });
      return row && recordOf(row);
    },
    findUnsigned: async (nowMs, limit) => (await toSign(sql, { nowMs, limit })).map(recordOf),
    findUnsubmitted: async (nowMs, limit) => (await readToSubmit(sql, { nowMs, limit })).map(signedOf),
    async findSubmitted(limit) {
      const rows = await readSubmitted(sql, { limit });
      return rows.map((row) => ({
        record: signedOf(row),
        slot: { ...row.slot, id: String(row.slot.id) },
      }));
    },
    waiting: async () => await readWaiting(sql, {}),
  };
}

/** The same inside one transaction. */
export function nonceMappingWrites(sql: Sql): NonceMappingWrites {
  return {
    async lockWallet(wallet) {
      await lockWallet(sql, { wallet });
    },
    async standing({ chainId, wallet, nonce, id, depositor }, sinceMs) {
      const [row] = await find(sql, { chainId, wallet, nonce });
      const [counts] = await readStanding(sql, { chainId, wallet, nonce, sinceMs });
      if (counts === undefined)
        throw new Error("invariant violated: count of authorizations returned no row");
      return {
        existing: row && (row.mappedId === id && row.depositor === depositor ? "same" : "taken"),
        ...counts,
      };
    },
    async store(
      { chainId, wallet, nonce, id, depositor, requestId = null, signature, signatureChainId },
      atMs,
    ) {
      const mappingFields = { mappedId: id, depositor, requestId, signature, signatureChainId };
      if ((await insert(sql, { chainId, wallet, nonce, ...mappingFields, atMs })).length > 0) return "new";
      const [row] = await find(sql, { chainId, wallet, nonce });
      if (row === undefined)
        throw new Error("invariant violated: nonce mapping was neither inserted nor found");
      return row.mappedId === id && row.depositor === depositor ? "same" : "taken";
    },
    async storeSignature(key, hubSignature, atMs) {
      await writeSigned(sql, { key, hubSignature, atMs });
    },
    async postpone(key, reason, nextTryMs, atMs) {
      await postpone(sql, { key, reason, nextTryMs, atMs });
    },
    lockUnsubmitted: async (keys) => (await lockUnsubmittedRows(sql, { keys })).length === keys.length,
    async markSubmitted(keys, slotId) {
      await writeSlot(sql, { keys, slotId });
    },
    async settle(key, state, mapped, atMs) {
      const { id: mappedId = null, depositor = null, setAt = null } = mapped ?? {};
      await settle(sql, { key, state, mappedId, depositor, setAt, atMs });
    },
    async release({ key, slotId }, reason, nextTryMs, atMs) {
      return (await release(sql, { key, slotId, reason, nextTryMs, atMs })).length > 0;
    },
  };
}

function recordOf(row: Row): NonceMappingRecord {
  const { hubMappedId, hubDepositor, hubSetAt } = row;
  return {
    key: String(row.key),
    chainId: row.chainId,
    wallet: row.wallet,
    nonce: row.nonce,
    id: row.mappedId,
    depositor: row.depositor,
    requestId: row.requestId ?? undefined,
    signature: row.signature,
    signatureChainId: row.signatureChainId,
    state: row.state,
    tries: row.tries,
    mapped:
      hubMappedId === null || hubDepositor === null || hubSetAt === null
        ? undefined
        : { id: hubMappedId, depositor: hubDepositor, setAt: BigInt(hubSetAt) },
    createdAtMs: row.createdAtMs,
  };
}

function signedOf(row: Row): SignedNonceMapping {
  if (row.hubSignature === null)
    throw new Error(`invariant violated: nonce mapping ${row.key} is signed without a signature`);
  return { ...recordOf(row), hubSignature: row.hubSignature };
}
