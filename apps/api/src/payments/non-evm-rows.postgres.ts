import type { Address, DepositId, Hex, OrderId, RequestId, TxHash } from "@causeway/domain";
import { eq, sql as text } from "drizzle-orm";
import type { NonEvmReads, NonEvmWrites } from "../chains/non-evm-rows.port.ts";
import { defineQuery, type Params, defineWrite, defineSqlWrite } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { DEPOSIT, depositOf } from "../deposits/deposit-rows.postgres.ts";
import { deposits, nonEvmCursors } from "../deposits/deposits.tables.ts";
import { nonceMappings } from "../settlement/nonce-mappings/nonce-mappings.tables.ts";
import { attempts, slots } from "./payments.tables.ts";

const cursor = defineQuery("non_evm_cursor", (db, { chainId }: Params<{ chainId: number }>) =>
  db.select({ cursor: nonEvmCursors.cursor }).from(nonEvmCursors).where(eq(nonEvmCursors.chainId, chainId)),
);
const checked = defineQuery("non_evm_checked", (db, { chainId }: Params<{ chainId: number }>) =>
  db
    .select({ cursor: nonEvmCursors.checkedCursor })
    .from(nonEvmCursors)
    .where(eq(nonEvmCursors.chainId, chainId)),
);
// Deposits whose nonce is mapped come first: anyone can make any number of unmapped ones.
const isMapped = text`exists (select from ${nonceMappings} where ${nonceMappings.chainId} = ${deposits.chainId}
  and ${nonceMappings.wallet} = ${deposits.sender} and ${nonceMappings.nonce} = ${deposits.walletNonce})`;
const unmapped = defineQuery("non_evm_unmapped", (db, p: Params<{ chainId: number; limit: number }>) =>
  db
    .select({ ...DEPOSIT, walletNonce: deposits.walletNonce, mappingUntilMs: deposits.mappingUntilMs })
    .from(deposits)
    .where(text`${deposits.chainId} = ${p.chainId} and ${deposits.mappingUntilMs} is not null`)
    .orderBy(text`${isMapped} desc, ${deposits.id}`)
    .limit(text.placeholder("limit")),
);
// There is no row to lock before the first cursor. Workers of the previous version lock the same text during
// an upgrade, so it stays as it is.
const lockChain = defineSqlWrite(
  "non_evm_lock",
  ({ chainId }: Params<{ chainId: number }>) =>
    text`select pg_advisory_xact_lock(hashtextextended('causeway:rail cursor ' || ${chainId}::text, 0))`,
);
interface Cursor extends Record<string, unknown> {
  readonly chainId: number;
  readonly cursor: string;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly blockSeconds: bigint;
  readonly checkedCursor: string | null;
}
const setCursor = defineWrite(
  "non_evm_cursor_set",
  (db, { chainId, cursor: next, blockNumber, blockHash, blockSeconds, checkedCursor }: Params<Cursor>) => {
    const set = { cursor: next, blockNumber, blockHash, blockSeconds, checkedCursor };
    return db
      .insert(nonEvmCursors)
      .values({ chainId, ...set })
      .onConflictDoUpdate({ target: nonEvmCursors.chainId, set });
  },
);
interface Transfer extends Record<string, unknown> {
  readonly chainId: number;
  readonly txHash: TxHash;
  readonly sender: Address;
  readonly nonce: bigint;
  readonly ordinal: number;
}
const storedDeposit = defineQuery("non_evm_deposit_known", (db, p: Params<Transfer>) =>
  db
    .select({ id: deposits.id })
    .from(deposits)
    .where(
      text`${deposits.chainId} = ${p.chainId} and ${deposits.txHash} = ${p.txHash} and ${deposits.sender} = ${p.sender}
        and ${deposits.walletNonce} = ${p.nonce} and ${deposits.ordinal} = ${p.ordinal}`,
    ),
);
const noteNonce = defineWrite(
  "non_evm_deposit_nonce",
  (db, p: Params<{ id: DepositId; nonce: bigint; untilMs: number | null }>) =>
    db.update(deposits).set({ walletNonce: p.nonce, mappingUntilMs: p.untilMs }).where(eq(deposits.id, p.id)),
);
const lockUnmapped = defineQuery("non_evm_lock_unmapped", (db, { id }: Params<{ id: DepositId }>) =>
  db
    .select(DEPOSIT)
    .from(deposits)
    .where(
      text`${deposits.id} = ${id} and ${deposits.mappingUntilMs} is not null and ${deposits.disposition} = 'unattributed'`,
    )
    .for("update"),
);
interface WaitingEnd extends Record<string, unknown> {
  readonly id: DepositId;
  readonly orderId: OrderId | null;
  readonly depositor: Address | null;
  readonly requestId: RequestId | null;
  readonly valueUsd: bigint | null;
}
const endWaiting = defineWrite("non_evm_end_waiting", (db, p: Params<WaitingEnd>) =>
  db
    .update(deposits)
    .set({
      mappingUntilMs: null,
      orderId: text`coalesce(${p.orderId}, ${deposits.orderId})`,
      depositor: text`coalesce(${p.depositor}, ${deposits.depositor})`,
      requestId: text`coalesce(${p.requestId}, ${deposits.requestId})`,
      valueUsd: text`coalesce(${p.valueUsd}, ${deposits.valueUsd})`,
    })
    .where(eq(deposits.id, p.id)),
);
const unsettled = defineQuery(
  "non_evm_unsettled_attempts",
  (db, p: Params<{ chainId: number; sender: Address; exceptSlotId: string }>) =>
    db
      .select({ txHash: attempts.txHash })
      .from(slots)
      .innerJoin(attempts, eq(attempts.slotId, slots.id))
      .where(
        text`${slots.chainId} = ${p.chainId} and ${slots.sender} = ${p.sender} and ${slots.state} in ('open', 'mined')
          and ${slots.id} <> ${p.exceptSlotId}`,
      ),
);
/** Reads the state of non-EVM chains from a Postgres pool. */
export function nonEvmReads(sql: Sql): NonEvmReads {
  return {
    nonEvmCursor: async (chainId) => (await cursor(sql, { chainId }))[0]?.cursor,
    nonEvmChecked: async (chainId) => (await checked(sql, { chainId }))[0]?.cursor ?? undefined,
    async unmappedDeposits(chainId, limit) {
      const rows = await unmapped(sql, { chainId, limit });
      return rows.map((row) => {
        const { walletNonce: nonce, mappingUntilMs: untilMs } = row;
        if (nonce === null || untilMs === null)
          throw new Error(`invariant violated: deposit ${row.id} awaits a mapping without a nonce`);
        return { deposit: depositOf(row), nonce, untilMs };
      });
    },
  };
}

/** Reads and writes the state of non-EVM chains inside one transaction. */
export function nonEvmWrites(sql: Sql): NonEvmWrites {
  return {
    async lockCursor(chainId) {
      await lockChain(sql, { chainId });
      return (await cursor(sql, { chainId }))[0]?.cursor;
    },
    async setCursor(chainId, next, { number, hash, timestamp }, upToChecked) {
      const block = { blockNumber: number, blockHash: hash, blockSeconds: timestamp };
      await setCursor(sql, { chainId, cursor: next, ...block, checkedCursor: upToChecked ?? null });
    },
    async isKnown({ chainId, txHash, sender, nonce, ordinal }) {
      return (await storedDeposit(sql, { chainId, txHash, sender, nonce, ordinal })).length > 0;
    },
    async noteNonce(id, nonce, untilMs) {
      await noteNonce(sql, { id, nonce, untilMs: untilMs ?? null });
    },
    async lockUnmapped(id: DepositId) {
      const [row] = await lockUnmapped(sql, { id });
      return row && depositOf(row);
    },
    async endWaiting(id, named) {
      const { orderId = null, depositor = null, requestId = null, valueUsd = null } = named ?? {};
      await endWaiting(sql, { id, orderId, depositor, requestId, valueUsd });
    },
    async unsettledAttempts(chainId: number, sender: Address, exceptSlotId: string) {
      return (await unsettled(sql, { chainId, sender, exceptSlotId })).map(({ txHash }) => txHash);
    },
  };
}
