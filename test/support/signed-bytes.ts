import type { Hex } from "@causeway/domain";
import type { Pool } from "pg";
import type { Slot } from "../../apps/api/src/db/records.port.ts";

/**
 * From now on, keeps a copy of all signed bytes, as an adversary would. The service deletes its own copy once
 * a payment is final.
 * @returns a function that reads every variant that was signed for a payment, also from deleted rows
 */
export async function keepSignedBytes(pool: Pool): Promise<(slot: Slot | undefined) => Promise<Hex[]>> {
  await pool.query(
    `create table signed_bytes (slot_id bigint not null, n integer not null, raw text not null);
     create function keep_signed_bytes() returns trigger language plpgsql as $$
     begin
       insert into signed_bytes values (new.slot_id, new.n, new.raw);
       return null;
     end $$;
     create trigger attempts_are_kept after insert on attempts for each row execute function keep_signed_bytes()`,
  );
  return async (slot) => {
    const { rows } = await pool.query<{ raw: Hex }>(
      "select raw from signed_bytes where slot_id = $1 order by n",
      [slot?.id],
    );
    return rows.map(({ raw }) => raw);
  };
}
