import type { Address, Hex, TxHash } from "@causeway/domain";
import { eq, sql as text } from "drizzle-orm";
import type { ClaimRecord, ClaimState, ClaimWrites } from "./claims.port.ts";
import { defineQuery, defineSql, type Params, defineWrite } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { claims } from "./claims.tables.ts";

export const CLAIM = {
  claimId: claims.claimId,
  wallet: claims.wallet,
  chainId: claims.chainId,
  currency: claims.currency,
  recipient: claims.recipient,
  amount: claims.amount,
  feeAmount: claims.feeAmount,
  expiresAt: claims.expiresAt,
  state: claims.state,
  tries: claims.tries,
  txHash: claims.txHash,
  failReason: claims.failReason,
  createdAtMs: claims.createdAtMs,
};

interface Offer extends Record<string, unknown> {
  readonly claimId: Hex;
  readonly wallet: Address;
  readonly chainId: number;
  readonly currency: Address;
  readonly recipient: Address;
  readonly amount: bigint;
  readonly feeAmount: bigint;
  readonly expiresAt: number;
  readonly createdAtMs: number;
}
const offer = defineWrite("claim_offer", (db, p: Params<Offer>) =>
  db.insert(claims).values({
    claimId: p.claimId,
    wallet: p.wallet,
    chainId: p.chainId,
    currency: p.currency,
    recipient: p.recipient,
    amount: p.amount,
    feeAmount: p.feeAmount,
    expiresAt: p.expiresAt,
    createdAtMs: p.createdAtMs,
    updatedAtMs: p.createdAtMs,
  }),
);
const walletOf = defineQuery("claim_wallet", (db, { claimId }: Params<{ claimId: Hex }>) =>
  db.select({ wallet: claims.wallet }).from(claims).where(eq(claims.claimId, claimId)),
);
const lock = defineQuery("claim_lock", (db, { claimId }: Params<{ claimId: Hex }>) =>
  db.select(CLAIM).from(claims).where(eq(claims.claimId, claimId)).for("update"),
);
interface Change extends Record<string, unknown> {
  readonly claimId: Hex;
  readonly state: ClaimState;
  readonly tries: number;
  readonly failReason: string | null;
  readonly atMs: number;
}
const setState = defineWrite("claim_set_state", (db, p: Params<Change>) =>
  db
    .update(claims)
    .set({ state: p.state, tries: p.tries, failReason: p.failReason, updatedAtMs: p.atMs })
    .where(eq(claims.claimId, p.claimId)),
);
const setTxHash = defineWrite(
  "claim_set_tx_hash",
  (db, p: Params<{ claimId: Hex; txHash: TxHash | null; atMs: number }>) =>
    db.update(claims).set({ txHash: p.txHash, updatedAtMs: p.atMs }).where(eq(claims.claimId, p.claimId)),
);
const prune = defineSql(
  "claim_prune",
  { claimId: claims.claimId },
  (p: Params<{ beforeSeconds: number; limit: number }>) => text`
    delete from ${claims} where ${claims.claimId} in (select ${claims.claimId} from ${claims}
      where ${claims.state} = 'offered' and ${claims.expiresAt} < ${p.beforeSeconds} limit ${p.limit})
    returning ${claims.claimId}`,
);

export function claimWrites(sql: Sql): ClaimWrites {
  return {
    async offer({
      claimId,
      wallet,
      chainId,
      currency,
      recipient,
      amount,
      feeAmount,
      expiresAt,
      createdAtMs,
    }) {
      const asset = { chainId, currency, amount, feeAmount };
      await offer(sql, { claimId, wallet, recipient, ...asset, expiresAt, createdAtMs });
    },
    walletOf: async (claimId) => (await walletOf(sql, { claimId }))[0]?.wallet,
    async lock(claimId) {
      const [row] = await lock(sql, { claimId });
      return row && claimOf(row);
    },
    async setState(claimId, { state, tries, failReason }, atMs) {
      await setState(sql, { claimId, state, tries, failReason: failReason ?? null, atMs });
    },
    async setTxHash(claimId, txHash, atMs) {
      await setTxHash(sql, { claimId, txHash: txHash ?? null, atMs });
    },
    prune: async (beforeSeconds, limit) => (await prune(sql, { beforeSeconds, limit })).length,
  };
}

export function claimOf(row: Pick<typeof claims.$inferSelect, keyof typeof CLAIM>): ClaimRecord {
  return { ...row, txHash: row.txHash ?? undefined, failReason: row.failReason ?? undefined };
}
