import { sql as text, type SQL } from "drizzle-orm";
import type { UsedContract, UsedContracts } from "./used-contracts.port.ts";
import { defineQuery, defineSql, type Params, defineWrite } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { requests } from "../requests/requests.tables.ts";
import { usedContracts as used } from "./payments.tables.ts";

const all = defineQuery("used_contracts_all", (db) => db.select().from(used));
const note = defineWrite(
  "used_contracts_note",
  (db, { chainId, address, role, firstUsedAtMs }: Params<typeof used.$inferSelect>) =>
    db.insert(used).values({ chainId, address, role, firstUsedAtMs }).onConflictDoNothing(),
);
interface OpenParams extends Record<string, unknown> {
  readonly chainId: number;
  readonly quotedBeforeMs: number;
  readonly nowMs: number;
}
const countOpen = (p: Params<OpenParams>, isOpen: SQL): SQL => text`
  select count(*) as count, coalesce(max(${requests.fillDeadlineMs}), 0) as until_ms from ${requests}
  where ${isOpen} and ${requests.kind} = 'bridge' and ${requests.createdAtMs} < ${p.quotedBeforeMs}
    and ${requests.fillDeadlineMs} > ${p.nowMs}`;
const openQuotes = defineSql(
  "used_contracts_open_quotes",
  { count: Number, untilMs: Number },
  (p: Params<OpenParams>) =>
    countOpen(p, text`${requests.state} = 'quoted' and ${requests.originChainId} = ${p.chainId}`),
);
const openOrders = defineSql(
  "used_contracts_open_orders",
  { count: Number, untilMs: Number },
  (p: Params<OpenParams>) =>
    countOpen(
      p,
      text`${requests.state} in ('quoted', 'accepted', 'depositing', 'deposited', 'fillable')
      and (${requests.originChainId} = ${p.chainId} or ${requests.destinationChainId} = ${p.chainId})`,
    ),
);
const NONE = { count: 0, untilMs: 0 };

export function usedContracts(sql: Sql): UsedContracts {
  return {
    all: async () => await all(sql, {}),
    async note(contracts: readonly UsedContract[]) {
      for (const { chainId, address, role, firstUsedAtMs } of contracts)
        await note(sql, { chainId, address, role, firstUsedAtMs });
    },
    openQuotes: async (chainId, quotedBeforeMs, nowMs) =>
      (await openQuotes(sql, { chainId, quotedBeforeMs, nowMs }))[0] ?? NONE,
    openOrders: async (chainId, quotedBeforeMs, nowMs) =>
      (await openOrders(sql, { chainId, quotedBeforeMs, nowMs }))[0] ?? NONE,
  };
}
