import type { Pool } from "pg";
import type { Slot } from "../../apps/api/src/db/records.port.ts";

type Row = Readonly<Record<string, unknown>>;

/**
 * Deletes the rows that a failover to a standby without the payment's commit would lose.
 * @returns a function that restores these rows
 */
export async function loseRows(
  pool: Pool,
  { id, chainId, sender, nonce }: Pick<Slot, "id" | "chainId" | "sender" | "nonce">,
): Promise<() => Promise<void>> {
  const attempts = await pool.query<Row>("delete from attempts where slot_id = $1 returning *", [id]);
  const slots = await pool.query<Row>("delete from slots where id = $1 returning *", [id]);
  const lane = [chainId, sender, nonce];
  await pool.query("update lanes set next_nonce = $3 where chain_id = $1 and sender = $2", lane);
  return async () => {
    for (const row of slots.rows) await insertRow(pool, "slots", row);
    for (const row of attempts.rows) await insertRow(pool, "attempts", row);
  };
}

async function insertRow(pool: Pool, table: "slots" | "attempts", row: Row): Promise<void> {
  const columns = Object.keys(row);
  const places = columns.map((_, at) => `$${at + 1}`);
  await pool.query(
    `insert into ${table} (${columns.join(", ")}) overriding system value values (${places.join(", ")})`,
    Object.values(row),
  );
}
