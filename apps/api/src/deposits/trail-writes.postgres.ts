import type { BlockRef } from "@causeway/chains";
import type { Hex } from "@causeway/domain";
import type { LockedCursor, TrailWrites } from "../db/unit-of-work.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

const lockCursor = statement(
  "cursor_lock",
  "select block_number, block_hash, advances_to from chain_cursors where chain_id = $1 for update",
);
const setCursor = statement(
  "cursor_set",
  `insert into chain_cursors (chain_id, block_number, block_hash) values ($1, $2, $3)
   on conflict (chain_id) do update set
     block_number = excluded.block_number, block_hash = excluded.block_hash, advances_to = null`,
);
const beginAdvance = statement(
  "cursor_begin_advance",
  `with cut as (delete from chain_blocks where chain_id = $1 and number > $2)
   update chain_cursors set block_number = $2, block_hash = $3, advances_to = $4 where chain_id = $1`,
);
const setRechecked = statement(
  "cursor_set_rechecked",
  "update chain_cursors set rechecked_block = greatest(coalesce(rechecked_block, 0), $2) where chain_id = $1",
);
const hashAt = statement(
  "trail_hash_at",
  "select hash from chain_blocks where chain_id = $1 and number = $2",
);
const cut = statement(
  "trail_cut",
  "delete from chain_blocks where chain_id = $1 and (number > $2 or number <= $3)",
);
const append = statement(
  "trail_append",
  `insert into chain_blocks (chain_id, number, hash, parent_hash, timestamp)
   select $1, * from unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[])`,
);

interface CursorRow {
  readonly block_number: number;
  readonly block_hash: string;
  readonly advances_to: string | null;
}

/** The watcher's memory of a chain inside one transaction. */
export function trailWrites(sql: Sql): TrailWrites {
  return {
    async lockCursor(chainId): Promise<LockedCursor | undefined> {
      const [row] = await sql.query<CursorRow>(lockCursor, [chainId]);
      if (row === undefined) return undefined;
      const { block_number: number, block_hash: hash, advances_to: advancesTo } = row;
      return {
        number: BigInt(number),
        hash: hash as Hex,
        advancesTo: (advancesTo ?? undefined) as Hex | undefined,
      };
    },
    async setCursor(chainId, block): Promise<void> {
      await sql.query(setCursor, [chainId, block.number, block.hash]);
    },
    async beginAdvance(chainId, { number, hash }, to): Promise<void> {
      await sql.query(beginAdvance, [chainId, number, hash, to]);
    },
    async setRechecked(chainId, blockNumber): Promise<void> {
      await sql.query(setRechecked, [chainId, blockNumber]);
    },
    async hashAt(chainId, number): Promise<Hex | undefined> {
      const [row] = await sql.query<{ hash: string }>(hashAt, [chainId, number]);
      return row && (row.hash as Hex);
    },
    async replace(chainId, ancestor, blocks: readonly BlockRef[], keep): Promise<void> {
      const tip = blocks.at(-1)?.number ?? ancestor;
      await sql.query(cut, [chainId, ancestor, tip - BigInt(keep)]);
      const kept = blocks.filter((block) => block.number > tip - BigInt(keep));
      await sql.query(append, [
        chainId,
        kept.map((block) => block.number),
        kept.map((block) => block.hash),
        kept.map((block) => block.parentHash),
        kept.map((block) => block.timestamp),
      ]);
    },
  };
}
