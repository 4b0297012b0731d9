import type { Hex } from "@causeway/domain";
import { asc, eq, getTableColumns, sql as text } from "drizzle-orm";
import type { TopUpRecord, TopUpState, TopUpWrites } from "./top-ups.port.ts";
import {
  defineQuery,
  defineSql,
  nameOf,
  namesOf,
  recordset,
  rowsJson,
  type Params,
  defineWrite,
} from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { appTopUps as topUps } from "./top-ups.tables.ts";

const SIGHTED = {
  chainId: topUps.chainId,
  txHash: topUps.txHash,
  ordinal: topUps.ordinal,
  blockNumber: topUps.blockNumber,
  blockHash: topUps.blockHash,
  confirmAtBlock: topUps.confirmAtBlock,
  sender: topUps.sender,
  wallet: topUps.wallet,
  currency: topUps.currency,
  amount: topUps.amount,
  state: topUps.state,
  seenAtMs: topUps.seenAtMs,
};
// A top-up that is already stored as canonical in the same block returns no row.
const upsert = defineSql(
  "top_up_upsert",
  getTableColumns(topUps),
  ({ sighted }: Params<{ sighted: string }>) => {
    const names = namesOf(...Object.values(SIGHTED));
    const { chainId, txHash, currency, amount, sender, wallet, ordinal } = topUps;
    const { canonical, blockNumber, blockHash, confirmAtBlock } = topUps;
    return text`
    insert into ${topUps} (${names}, ${nameOf(canonical)}) select ${names}, true from ${recordset(sighted, SIGHTED)}
    on conflict (${namesOf(chainId, txHash, currency, amount, sender)}, coalesce(${nameOf(wallet)}, ''), ${nameOf(ordinal)})
    do update set ${nameOf(canonical)} = true, ${nameOf(blockNumber)} = excluded.${nameOf(blockNumber)},
      ${nameOf(blockHash)} = excluded.${nameOf(blockHash)}, ${nameOf(confirmAtBlock)} = excluded.${nameOf(confirmAtBlock)}
    where not ${canonical} or ${blockHash} <> excluded.${nameOf(blockHash)}
    returning ${topUps}.*`;
  },
);
interface Range extends Record<string, unknown> {
  readonly chainId: number;
  readonly aboveBlock: bigint;
  readonly upToBlock: bigint;
  readonly canonicalHashes: readonly Hex[];
}
// Sorted by wallet: the callers lock the wallets next, and must always lock them in the same order.
const removeOrphaned = defineSql(
  "top_up_remove_orphaned",
  getTableColumns(topUps),
  (p: Params<Range>) => text`
    with gone as (
      update ${topUps} set ${nameOf(topUps.canonical)} = false
      where ${topUps.chainId} = ${p.chainId} and ${topUps.blockNumber} > ${p.aboveBlock} and ${topUps.blockNumber} <= ${p.upToBlock}
        and ${topUps.canonical} and ${topUps.blockHash} <> all(${p.canonicalHashes}::text[])
      returning ${topUps}.*)
    select * from gone order by ${namesOf(topUps.wallet, topUps.id)}`,
);
const lockDue = defineQuery("top_up_lock_due", (db, p: Params<{ chainId: number; headNumber: bigint }>) =>
  db
    .select()
    .from(topUps)
    .where(
      text`${topUps.chainId} = ${p.chainId} and ${topUps.state} = 'seen' and ${topUps.canonical}
        and ${topUps.confirmAtBlock} <= ${p.headNumber}`,
    )
    .orderBy(asc(topUps.wallet), asc(topUps.id))
    .for("update"),
);
const setState = defineWrite(
  "top_up_set_state",
  (db, p: Params<{ id: string; state: TopUpState; credits: number }>) =>
    db.update(topUps).set({ state: p.state, credits: p.credits }).where(eq(topUps.id, p.id)),
);

export function topUpWrites(sql: Sql): TopUpWrites {
  return {
    async upsert({ blockNumber, confirmAtBlock, wallet = null, ...topUp }) {
      const row = {
        ...topUp,
        wallet,
        blockNumber: Number(blockNumber),
        confirmAtBlock: Number(confirmAtBlock),
      };
      const [stored] = await upsert(sql, { sighted: rowsJson(SIGHTED, [row]) });
      return stored && topUpOf(stored);
    },
    async removeOrphaned(chainId, aboveBlock, upToBlock, canonicalHashes) {
      const orphaned = await removeOrphaned(sql, { chainId, aboveBlock, upToBlock, canonicalHashes });
      return orphaned.map(topUpOf);
    },
    async lockDue(chainId, headNumber) {
      return (await lockDue(sql, { chainId, headNumber })).map(topUpOf);
    },
    async setState(id, state, credits) {
      await setState(sql, { id, state, credits });
    },
  };
}

export function topUpOf(row: typeof topUps.$inferSelect): TopUpRecord {
  return {
    ...row,
    id: String(row.id),
    blockNumber: BigInt(row.blockNumber),
    confirmAtBlock: BigInt(row.confirmAtBlock),
    wallet: row.wallet ?? undefined,
  };
}
