import type { Address, Hex, Hex32 } from "@causeway/domain";
import { and, eq, isNull, sql as text } from "drizzle-orm";
import type { WithdrawalOutcome, WithdrawalRecord, WithdrawalStore } from "./withdrawals.port.ts";
import { defineQuery, type Params, defineWrite } from "../../db/define-query.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { hubWithdrawals as withdrawals } from "../settlement.tables.ts";

interface InsertParams extends Record<string, unknown> {
  readonly withdrawalAddress: Address;
  readonly chainName: string;
  readonly depository: Address;
  readonly currency: Address;
  readonly amount: bigint;
  readonly recipient: Address;
  readonly nonce: Hex32;
  readonly atMs: number;
}
const insert = defineWrite("withdrawal_insert", (db, p: Params<InsertParams>) =>
  db
    .insert(withdrawals)
    .values({
      withdrawalAddress: p.withdrawalAddress,
      chainName: p.chainName,
      depository: p.depository,
      currency: p.currency,
      amount: p.amount,
      recipient: p.recipient,
      nonce: p.nonce,
      createdAtMs: p.atMs,
      updatedAtMs: p.atMs,
    })
    .onConflictDoNothing(),
);
const readByNonce = defineQuery("withdrawal_read_by_nonce", (db, { nonce }: Params<{ nonce: Hex32 }>) =>
  db
    .select({
      address: withdrawals.withdrawalAddress,
      chainName: withdrawals.chainName,
      depository: withdrawals.depository,
      currency: withdrawals.currency,
      amount: withdrawals.amount,
      recipient: withdrawals.recipient,
      nonce: withdrawals.nonce,
      payload: withdrawals.payload,
      outcome: withdrawals.outcome,
    })
    .from(withdrawals)
    .where(eq(withdrawals.nonce, nonce)),
);
const writePayload = defineQuery(
  "withdrawal_choose_payload",
  (db, p: Params<{ address: Address; payload: Hex; atMs: number }>) =>
    db
      .update(withdrawals)
      .set({ payload: text`coalesce(${withdrawals.payload}, ${p.payload})`, updatedAtMs: p.atMs })
      .where(eq(withdrawals.withdrawalAddress, p.address))
      .returning({ payload: withdrawals.payload }),
);
const close = defineWrite(
  "withdrawal_close",
  (db, p: Params<{ address: Address; outcome: WithdrawalOutcome; atMs: number }>) =>
    db
      .update(withdrawals)
      .set({ outcome: p.outcome, updatedAtMs: p.atMs })
      .where(and(eq(withdrawals.withdrawalAddress, p.address), isNull(withdrawals.outcome))),
);

export function withdrawalStore(sql: Sql): WithdrawalStore {
  const find = async (nonce: Hex32): Promise<WithdrawalRecord | undefined> => {
    const [row] = await readByNonce(sql, { nonce });
    return row && { ...row, payload: row.payload ?? undefined, outcome: row.outcome ?? undefined };
  };
  return {
    find,
    async open(address, order, atMs) {
      await insert(sql, { ...order, withdrawalAddress: address, atMs });
      const record = await find(order.nonce);
      if (record === undefined)
        throw new Error(`invariant violated: withdrawal ${address} was neither inserted nor found`);
      return record;
    },
    async choosePayload(address, payload, atMs) {
      const [row] = await writePayload(sql, { address, payload, atMs });
      if (row?.payload == null) throw new Error(`invariant violated: withdrawal ${address} is not stored`);
      return row.payload;
    },
    async close(address, outcome, atMs) {
      await close(sql, { address, outcome, atMs });
    },
  };
}
