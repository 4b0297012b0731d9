import type { Address, Hex, Hex32 } from "@causeway/domain";
import type { WithdrawalOutcome, WithdrawalRecord, WithdrawalStore } from "./withdrawals.port.ts";
import { statement } from "../../db/pool.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";

interface Row {
  withdrawal_address: string;
  chain_name: string;
  depository: string;
  currency: string;
  amount: bigint;
  recipient: string;
  nonce: string;
  payload: string | null;
  outcome: string | null;
}

const COLUMNS =
  "withdrawal_address, chain_name, depository, currency, amount, recipient, nonce, payload, outcome";

const insert = statement(
  "withdrawal_insert",
  `insert into hub_withdrawals (withdrawal_address, chain_name, depository, currency, amount, recipient, nonce, created_at_ms, updated_at_ms)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $8) on conflict do nothing`,
);
const readByNonce = statement(
  "withdrawal_read_by_nonce",
  `select ${COLUMNS} from hub_withdrawals where nonce = $1`,
);
const choose = statement(
  "withdrawal_choose_payload",
  `update hub_withdrawals set payload = coalesce(payload, $2), updated_at_ms = $3 where withdrawal_address = $1 returning payload`,
);
const close = statement(
  "withdrawal_close",
  "update hub_withdrawals set outcome = $2, updated_at_ms = $3 where withdrawal_address = $1 and outcome is null",
);

/** Withdrawals on Postgres. */
export function withdrawalStore(sql: Sql): WithdrawalStore {
  const find = async (nonce: Hex32): Promise<WithdrawalRecord | undefined> => {
    const [row] = await sql.query<Row>(readByNonce, [nonce]);
    return row === undefined ? undefined : recordOf(row);
  };
  return {
    find,
    async open(address, order, atMs) {
      await sql.query(insert, [
        address,
        order.chainName,
        order.depository,
        order.currency,
        order.amount,
        order.recipient,
        order.nonce,
        atMs,
      ]);
      const record = await find(order.nonce);
      if (record === undefined)
        throw new Error(`invariant violated: withdrawal ${address} was neither inserted nor found`);
      return record;
    },
    async choosePayload(address, payload, atMs) {
      const [row] = await sql.query<{ payload: string }>(choose, [address, payload, atMs]);
      if (row === undefined) throw new Error(`invariant violated: withdrawal ${address} is not stored`);
      return row.payload as Hex;
    },
    async close(address, outcome, atMs) {
      await sql.query(close, [address, outcome, atMs]);
    },
  };
}

function recordOf(row: Row): WithdrawalRecord {
  return {
    address: row.withdrawal_address as Address,
    chainName: row.chain_name,
    depository: row.depository as Address,
    currency: row.currency as Address,
    amount: row.amount,
    recipient: row.recipient as Address,
    nonce: row.nonce as Hex32,
    payload: (row.payload as Hex | null) ?? undefined,
    outcome: (row.outcome as WithdrawalOutcome | null) ?? undefined,
  };
}
