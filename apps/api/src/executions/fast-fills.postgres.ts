import type { Address, RequestId, TxHash } from "@causeway/domain";
import { eq, sql as text } from "drizzle-orm";
import type { CoverState, FastFillRecord, FastFillWrites } from "../balances/fast-fill.port.ts";
import { defineQuery, defineSql, type Params, defineWrite } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { originTransactions } from "../deposits/deposits.tables.ts";
import { slots } from "../payments/payments.tables.ts";
import { fastFills } from "./fast-fills.tables.ts";

type InsertedColumn =
  | "requestId"
  | "keyId"
  | "wallet"
  | "amount"
  | "inputAmount"
  | "surplusChainId"
  | "surplusCurrency"
  | "surplusAmount"
  | "originPriceUsd"
  | "destinationPriceUsd"
  | "nativePriceUsd"
  | "toleranceBps"
  | "depositUntilMs"
  | "acceptedAtMs";
const add = defineWrite(
  "fast_fill_add",
  (db, p: Params<Pick<typeof fastFills.$inferSelect, InsertedColumn>>) =>
    db.insert(fastFills).values({
      requestId: p.requestId,
      keyId: p.keyId,
      wallet: p.wallet,
      amount: p.amount,
      inputAmount: p.inputAmount,
      surplusChainId: p.surplusChainId,
      surplusCurrency: p.surplusCurrency,
      surplusAmount: p.surplusAmount,
      originPriceUsd: p.originPriceUsd,
      destinationPriceUsd: p.destinationPriceUsd,
      nativePriceUsd: p.nativePriceUsd,
      toleranceBps: p.toleranceBps,
      depositUntilMs: p.depositUntilMs,
      acceptedAtMs: p.acceptedAtMs,
    }),
);

interface ByRequest extends Record<string, unknown> {
  readonly requestId: RequestId;
}
const find = defineQuery("fast_fill_find", (db, { requestId }: Params<ByRequest>) =>
  db.select().from(fastFills).where(eq(fastFills.requestId, requestId)),
);
const setCover = defineWrite(
  "fast_fill_set_cover",
  (db, p: Params<ByRequest & { readonly state: CoverState; readonly moves: number }>) =>
    db
      .update(fastFills)
      .set({
        coverState: p.state,
        surplusCredited: text`${p.state}::text = 'booked'`,
        surplusMoves: p.moves,
      })
      .where(eq(fastFills.requestId, p.requestId)),
);
const setSpent = defineWrite("fast_fill_set_spent", (db, p: Params<ByRequest & { readonly usd: bigint }>) =>
  db.update(fastFills).set({ spentUsd: p.usd }).where(eq(fastFills.requestId, p.requestId)),
);
const setDebited = defineWrite(
  "fast_fill_set_debited",
  (db, p: Params<ByRequest & { readonly usd: bigint }>) =>
    db.update(fastFills).set({ debitedUsd: p.usd }).where(eq(fastFills.requestId, p.requestId)),
);
interface RevertedFill extends ByRequest {
  readonly slotId: string;
  readonly usd: bigint;
  readonly atMs: number;
}
const setReverted = defineWrite("fast_fill_set_reverted", (db, p: Params<RevertedFill>) =>
  db
    .update(fastFills)
    .set({ revertedSlotId: text`${p.slotId}`, revertedGasUsd: p.usd, revertedAtMs: p.atMs })
    .where(eq(fastFills.requestId, p.requestId)),
);
const setRevertedCharged = defineWrite(
  "fast_fill_set_reverted_charged",
  (db, { requestId }: Params<ByRequest>) =>
    db.update(fastFills).set({ revertedGasCharged: true }).where(eq(fastFills.requestId, requestId)),
);
// Reverted fills count as soon as they are mined; otherwise, an app could request many before the first is
// final.
const revertedUsd = defineSql(
  "fast_fill_reverted_usd",
  { usd: BigInt },
  (p: Params<{ wallet: Address; sinceMs: number }>) => text`
    select coalesce(sum(usd), 0) as usd from (
      select ${fastFills.revertedGasUsd} as usd from ${fastFills}
      where ${fastFills.wallet} = ${p.wallet} and ${fastFills.revertedGasUsd} > 0 and ${fastFills.revertedAtMs} >= ${p.sinceMs}
      union all
      select ceil(${slots.gasUsed} * ${slots.effectiveGasPrice} * ${fastFills.nativePriceUsd} / 1e18)
      from ${fastFills} join ${slots} on ${slots.legKind} = 'fill' and ${slots.legId} = ${fastFills.requestId}
        and ${slots.state} = 'mined' and ${slots.minedStatus} = 'reverted'
      where ${fastFills.wallet} = ${p.wallet}
    ) reverted`,
);
const dueFastFills = defineSql(
  "fast_fills_due",
  { requestId: fastFills.requestId },
  ({ limit }: Params<{ limit: number }>) => text`
    select ${fastFills.requestId} from ${fastFills}
    where ${fastFills.coverState} = 'due' or (${fastFills.revertedGasUsd} > 0 and not ${fastFills.revertedGasCharged})
    order by ${fastFills.triedAtMs}, ${fastFills.acceptedAtMs} limit ${limit}`,
);
const noteTried = defineWrite(
  "fast_fills_note_tried",
  (db, p: Params<{ requestIds: readonly RequestId[]; atMs: number }>) =>
    db
      .update(fastFills)
      .set({ triedAtMs: p.atMs })
      .where(text`${fastFills.requestId} = any(${p.requestIds}::text[])`),
);
const addOrigin = defineWrite(
  "origin_transaction_add",
  (
    db,
    {
      requestId,
      txHash,
      reportedAtMs,
    }: Params<ByRequest & { readonly txHash: TxHash; readonly reportedAtMs: number }>,
  ) => db.insert(originTransactions).values({ requestId, txHash, reportedAtMs }).onConflictDoNothing(),
);

/** Fast fills inside one transaction. */
export function fastFillWrites(sql: Sql): FastFillWrites {
  return {
    async add({ surplus, prices, depositUntilMs = null, ...fastFill }): Promise<void> {
      await add(sql, {
        ...fastFill,
        surplusChainId: surplus.asset.chainId,
        surplusCurrency: surplus.asset.currency,
        surplusAmount: surplus.amount,
        originPriceUsd: prices.originUsd,
        destinationPriceUsd: prices.destinationUsd,
        nativePriceUsd: prices.nativeUsd,
        depositUntilMs,
      });
    },
    find: (requestId) => findFastFill(sql, requestId),
    async setCover(requestId, state, moves): Promise<void> {
      await setCover(sql, { requestId, state, moves });
    },
    async setSpent(requestId, usd): Promise<void> {
      await setSpent(sql, { requestId, usd });
    },
    async setDebited(requestId, usd): Promise<void> {
      await setDebited(sql, { requestId, usd });
    },
    async setRevertedGas(requestId, slotId, usd, atMs): Promise<void> {
      await setReverted(sql, { requestId, slotId, usd, atMs });
    },
    async setRevertedGasCharged(requestId): Promise<void> {
      await setRevertedCharged(sql, { requestId });
    },
    revertedGasUsd: async (wallet, sinceMs) => (await revertedUsd(sql, { wallet, sinceMs }))[0]?.usd ?? 0n,
    async noteTried(requestIds, atMs): Promise<void> {
      await noteTried(sql, { requestIds, atMs });
    },
    async rememberOrigin(requestId, txHash, atMs): Promise<void> {
      await addOrigin(sql, { requestId, txHash, reportedAtMs: atMs });
    },
  };
}

/** The fast fill of a request. Undefined if the request was never fast filled. */
export async function findFastFill(sql: Sql, requestId: RequestId): Promise<FastFillRecord | undefined> {
  const [row] = await find(sql, { requestId });
  return row && fastFillOf(row);
}

/** Fast fills whose deposit or reverted gas waits for a price, least recently tried first. */
export async function fastFillsDue(sql: Sql, limit: number): Promise<RequestId[]> {
  return (await dueFastFills(sql, { limit })).map(({ requestId }) => requestId);
}

function fastFillOf(row: typeof fastFills.$inferSelect): FastFillRecord {
  return {
    requestId: row.requestId,
    keyId: row.keyId,
    wallet: row.wallet,
    amount: row.amount,
    inputAmount: row.inputAmount,
    surplus: {
      asset: { chainId: row.surplusChainId, currency: row.surplusCurrency },
      amount: row.surplusAmount,
    },
    prices: {
      originUsd: row.originPriceUsd,
      destinationUsd: row.destinationPriceUsd,
      nativeUsd: row.nativePriceUsd,
    },
    toleranceBps: row.toleranceBps,
    depositUntilMs: row.depositUntilMs ?? undefined,
    acceptedAtMs: row.acceptedAtMs,
    spentUsd: row.spentUsd,
    debitedUsd: row.debitedUsd,
    revertedGas:
      row.revertedSlotId === null
        ? undefined
        : { slotId: String(row.revertedSlotId), usd: row.revertedGasUsd, isCharged: row.revertedGasCharged },
    coverState: row.coverState,
    coverMoves: row.surplusMoves,
  };
}
