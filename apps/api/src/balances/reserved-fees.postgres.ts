import { mergeEntries } from "@causeway/domain";
import type { FeesToReserve } from "./ledger.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

// The entries' trigger sees the movements that this very statement has written.
const reserve = statement(
  "ledger_reserve_many",
  `with wanted as (select * from json_to_recordset($1::json) as w (movement_key text, request_id text, usd numeric)),
   moved as (insert into ledger_movements (movement_key, context, reason, wallet, request_id, created_at_ms)
     select movement_key, 'set-pending-amount', 'fees reserved', $4, request_id, $5 from wanted returning id, request_id),
   reserved as (insert into fee_reservations (request_id, wallet, usd, created_at_ms)
     select request_id, $4, usd, $5 from wanted returning id, request_id),
   parted as (insert into fee_reservation_parts (reservation_id, n, chain_id, currency, amount, usd)
     select r.id, p.n, p.chain_id, p.currency, p.amount, p.usd
     from json_to_recordset($2::json) as p (request_id text, n integer, chain_id bigint, currency text, amount numeric, usd numeric)
       join reserved r on r.request_id = p.request_id)
   insert into ledger_entries (movement_id, account, wallet, chain_id, currency, amount)
   select m.id, e.account, $4, e.chain_id, e.currency, e.amount
   from json_to_recordset($3::json) as e (request_id text, account text, chain_id bigint, currency text, amount numeric)
     join moved m on m.request_id = e.request_id`,
);

/**
 * Sets fees of several requests aside, each by a movement of its own.
 *
 * @throws when one of them has a reservation, or the wallet would be overdrawn
 */
export async function reserveTogether(
  sql: Sql,
  wallet: string,
  fees: readonly FeesToReserve[],
  atMs: number,
): Promise<void> {
  const wanted = fees.map(({ movementKey, requestId, usd }) => ({
    movement_key: movementKey,
    request_id: requestId,
    usd: usd.toString(),
  }));
  const parts = fees.flatMap(({ requestId, parts: of }) =>
    of.map(({ asset, amount, usd }, at) => ({
      request_id: requestId,
      n: at + 1,
      chain_id: asset.chainId,
      currency: asset.currency,
      amount: amount.toString(),
      usd: usd.toString(),
    })),
  );
  const entries = fees.flatMap(({ requestId, parts: of }) =>
    mergeEntries(
      of.flatMap(({ asset, amount }) => [
        { account: "balance", asset, amount: -amount },
        { account: "pending", asset, amount },
      ]),
    ).map(({ account, asset, amount }) => ({
      request_id: requestId,
      account,
      chain_id: asset.chainId,
      currency: asset.currency,
      amount: amount.toString(),
    })),
  );
  await sql.query(reserve, [
    JSON.stringify(wanted),
    JSON.stringify(parts),
    JSON.stringify(entries),
    wallet,
    atMs,
  ]);
}
