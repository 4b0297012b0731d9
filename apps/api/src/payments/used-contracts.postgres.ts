import type { Address } from "@causeway/domain";
import type { OpenRequests, UsedContracts } from "./used-contracts.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql, Statement } from "../db/pool.postgres.ts";

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

const ordered = statement(
  "used_contracts_open_orders",
  `select count(*) as count, coalesce(max(fill_deadline_ms), 0) as until_ms from requests
   where state in ('quoted', 'accepted', 'depositing', 'deposited', 'fillable') and kind = 'bridge'
     and (origin_chain_id = $1 or destination_chain_id = $1) and created_at_ms < $2 and fill_deadline_ms > $3`,
);

interface Row {
  readonly chain_id: number;
  readonly address: Address;
  readonly role: string;
  readonly first_used_at_ms: number;
}

export function usedContracts(sql: Sql): UsedContracts {
  async function counted(by: Statement, ...args: readonly number[]): Promise<OpenRequests> {
    const [row] = await sql.query<{ count: number; until_ms: number }>(by, args);
    return { count: row?.count ?? 0, untilMs: row?.until_ms ?? 0 };
  }
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
    openQuotes: async (chainId, givenBeforeMs, nowMs) => await counted(open, chainId, givenBeforeMs, nowMs),
    openOrders: async (chainId, givenBeforeMs, nowMs) =>
      await counted(ordered, chainId, givenBeforeMs, nowMs),
  };
}
