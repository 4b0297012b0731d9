import type { BlockRef } from "@causeway/chains";
import type { Hex } from "@causeway/domain";
import { and, eq, sql as text } from "drizzle-orm";
import type { LockedCursor, TrailWrites } from "../db/unit-of-work.port.ts";
import {
  defineQuery,
  nameOf,
  namesOf,
  type Params,
  defineWrite,
  defineSqlWrite,
} from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { chainBlocks, chainCursors } from "./deposits.tables.ts";

const lockCursor = defineQuery("cursor_lock", (db, { chainId }: Params<{ chainId: number }>) =>
  db
    .select({
      number: chainCursors.blockNumber,
      hash: chainCursors.blockHash,
      advancesTo: chainCursors.advancesTo,
    })
    .from(chainCursors)
    .where(eq(chainCursors.chainId, chainId))
    .for("update"),
);
const setCursor = defineWrite(
  "cursor_set",
  (
    db,
    { chainId, blockNumber, blockHash }: Params<{ chainId: number; blockNumber: bigint; blockHash: Hex }>,
  ) =>
    db
      .insert(chainCursors)
      .values({ chainId, blockNumber, blockHash })
      .onConflictDoUpdate({
        target: chainCursors.chainId,
        set: { blockNumber, blockHash, advancesTo: null },
      }),
);
const beginAdvance = defineSqlWrite(
  "cursor_begin_advance",
  (p: Params<{ chainId: number; number: bigint; hash: Hex; to: Hex }>) => text`
    with cut as (delete from ${chainBlocks} where ${chainBlocks.chainId} = ${p.chainId} and ${chainBlocks.number} > ${p.number})
    update ${chainCursors} set ${nameOf(chainCursors.blockNumber)} = ${p.number}, ${nameOf(chainCursors.blockHash)} = ${p.hash},
      ${nameOf(chainCursors.advancesTo)} = ${p.to}
    where ${chainCursors.chainId} = ${p.chainId}`,
);
const setRechecked = defineWrite(
  "cursor_set_rechecked",
  (db, p: Params<{ chainId: number; blockNumber: bigint }>) =>
    db
      .update(chainCursors)
      .set({ recheckedBlock: text`greatest(coalesce(${chainCursors.recheckedBlock}, 0), ${p.blockNumber})` })
      .where(eq(chainCursors.chainId, p.chainId)),
);
const hashAt = defineQuery("trail_hash_at", (db, p: Params<{ chainId: number; number: bigint }>) =>
  db
    .select({ hash: chainBlocks.hash })
    .from(chainBlocks)
    .where(and(eq(chainBlocks.chainId, p.chainId), eq(chainBlocks.number, p.number))),
);
interface BlockRows extends Record<string, unknown> {
  readonly chainId: number;
  readonly numbers: readonly bigint[];
  readonly hashes: readonly Hex[];
  readonly parentHashes: readonly Hex[];
  readonly timestamps: readonly bigint[];
}
// Never deletes a height that it also inserts: one statement cannot do both to a row.
const replace = defineSqlWrite(
  "trail_replace",
  (p: Params<BlockRows & { readonly tip: bigint; readonly dropUpTo: bigint }>) => {
    const { chainId, number, hash, parentHash, timestamp } = chainBlocks;
    return text`
    with cut as (delete from ${chainBlocks} where ${chainId} = ${p.chainId} and (${number} > ${p.tip} or ${number} <= ${p.dropUpTo}))
    insert into ${chainBlocks} (${namesOf(chainId, number, hash, parentHash, timestamp)})
    select ${p.chainId}::bigint, * from unnest(${p.numbers}::bigint[], ${p.hashes}::text[], ${p.parentHashes}::text[], ${p.timestamps}::bigint[])
    on conflict (${namesOf(chainId, number)}) do update set ${nameOf(hash)} = excluded.${nameOf(hash)},
      ${nameOf(parentHash)} = excluded.${nameOf(parentHash)}, ${nameOf(timestamp)} = excluded.${nameOf(timestamp)}`;
  },
);

/** Writes, inside one transaction, the watcher's cursor and the trail: the newest blocks that it has read. */
export function trailWrites(sql: Sql): TrailWrites {
  return {
    async lockCursor(chainId): Promise<LockedCursor | undefined> {
      const [row] = await lockCursor(sql, { chainId });
      return row && { ...row, number: BigInt(row.number), advancesTo: row.advancesTo ?? undefined };
    },
    async setCursor(chainId, block): Promise<void> {
      await setCursor(sql, { chainId, blockNumber: block.number, blockHash: block.hash });
    },
    async beginAdvance(chainId, { number, hash }, to): Promise<void> {
      await beginAdvance(sql, { chainId, number, hash, to });
    },
    async setRechecked(chainId, blockNumber): Promise<void> {
      await setRechecked(sql, { chainId, blockNumber });
    },
    async hashAt(chainId, number): Promise<Hex | undefined> {
      return (await hashAt(sql, { chainId, number }))[0]?.hash;
    },
    async replace(chainId, ancestor, blocks: readonly BlockRef[], keep): Promise<void> {
      const tip = blocks.at(-1)?.number ?? ancestor;
      const dropUpTo = tip - BigInt(keep);
      const kept = blocks.filter((block) => block.number > dropUpTo);
      await replace(sql, {
        chainId,
        tip,
        dropUpTo,
        numbers: kept.map((block) => block.number),
        hashes: kept.map((block) => block.hash),
        parentHashes: kept.map((block) => block.parentHash),
        timestamps: kept.map((block) => block.timestamp),
      });
    },
  };
}
