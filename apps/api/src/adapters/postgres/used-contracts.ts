import type { Address } from "@causeway/domain";
import type { UsedContracts } from "../../ports/used-contracts.ts";
import { statement } from "./pool.ts";
import type { Sql } from "./pool.ts";

const all = statement(
  "used_contracts_all",
  "select chain_id, address, role, first_used_at_ms from used_contracts",
);
const note = statement(
  "used_contracts_note",
  "insert into used_contracts (chain_id, address, role, first_used_at_ms) values ($1, $2, $3, $4) on conflict do nothing",
);
const open = statement(
  "used_contracts_open_quotes",
  `select count(*) as count, coalesce(max(fill_deadline_ms), 0) as until_ms from requests
   where state = 'quoted' and kind = 'bridge' and origin_chain_id = $1 and created_at_ms < $2 and fill_deadline_ms > $3`,
);

interface Row {
  readonly chain_id: number;
  readonly address: Address;
  readonly role: string;
  readonly first_used_at_ms: number;
}

export function usedContracts(sql: Sql): UsedContracts {
  return {
    async all() {
      const rows = await sql.query<Row>(all, []);
      return rows.map(({ chain_id: chainId, address, role, first_used_at_ms: firstUsedAtMs }) => ({
        chainId,
        address,
        role,
        firstUsedAtMs,
      }));
    },
    async note(used) {
      for (const { chainId, address, role, firstUsedAtMs } of used)
        await sql.query(note, [chainId, address, role, firstUsedAtMs]);
    },
    async openQuotes(chainId, givenBeforeMs, nowMs) {
      const [row] = await sql.query<{ count: number; until_ms: number }>(open, [
        chainId,
        givenBeforeMs,
        nowMs,
      ]);
      return { count: row?.count ?? 0, untilMs: row?.until_ms ?? 0 };
    },
  };
}
