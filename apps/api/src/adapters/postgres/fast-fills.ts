import type { Address, RequestId } from "@causeway/domain";
import type { FastFillRecord, FastFillWrites } from "../../ports/fast-fill.ts";
import { statement } from "./pool.ts";
import type { Sql } from "./pool.ts";

interface FastFillRow {
  request_id: string;
  key_id: string;
  wallet: string;
  amount: bigint;
  input_amount: bigint;
  surplus_chain_id: number;
  surplus_currency: string;
  surplus_amount: bigint;
  surplus_credited: boolean;
  surplus_moves: number;
  accepted_at_ms: number;
}

const add = statement(
  "fast_fill_add",
  `insert into fast_fills (request_id, key_id, wallet, amount, input_amount, surplus_chain_id, surplus_currency, surplus_amount, accepted_at_ms)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);
const find = statement(
  "fast_fill_find",
  `select request_id, key_id, wallet, amount, input_amount, surplus_chain_id, surplus_currency, surplus_amount, surplus_credited,
     surplus_moves, accepted_at_ms
   from fast_fills where request_id = $1`,
);
const setSurplus = statement(
  "fast_fill_set_surplus",
  "update fast_fills set surplus_credited = $2, surplus_moves = $3 where request_id = $1",
);
const rememberOrigin = statement(
  "origin_transaction_remember",
  "insert into origin_transactions (request_id, tx_hash, reported_at_ms) values ($1, $2, $3) on conflict do nothing",
);

/** Fast fills inside one transaction. */
export function fastFillWrites(sql: Sql): FastFillWrites {
  return {
    async add({ surplus, ...fastFill }): Promise<void> {
      await sql.query(add, [
        fastFill.requestId,
        fastFill.keyId,
        fastFill.wallet,
        fastFill.amount,
        fastFill.inputAmount,
        surplus.asset.chainId,
        surplus.asset.currency,
        surplus.amount,
        fastFill.acceptedAtMs,
      ]);
    },
    find: (requestId) => findFastFill(sql, requestId),
    async setSurplus(requestId, credited, moves): Promise<void> {
      await sql.query(setSurplus, [requestId, credited, moves]);
    },
    async rememberOrigin(requestId, txHash, atMs): Promise<void> {
      await sql.query(rememberOrigin, [requestId, txHash, atMs]);
    },
  };
}

/** Undefined when the request was never fast filled. */
export async function findFastFill(sql: Sql, requestId: RequestId): Promise<FastFillRecord | undefined> {
  const [row] = await sql.query<FastFillRow>(find, [requestId]);
  return (
    row && {
      requestId: row.request_id as RequestId,
      keyId: row.key_id,
      wallet: row.wallet as Address,
      amount: row.amount,
      inputAmount: row.input_amount,
      surplus: {
        asset: { chainId: row.surplus_chain_id, currency: row.surplus_currency as Address },
        amount: row.surplus_amount,
      },
      surplusCredited: row.surplus_credited,
      surplusMoves: row.surplus_moves,
      acceptedAtMs: row.accepted_at_ms,
    }
  );
}
