import { asc, eq, sql as text } from "drizzle-orm";
import type { Reads } from "../db/reads.port.ts";
import { defineQuery, defineSql, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { chainBlocks, chainCursors } from "./deposits.tables.ts";

const cursor = defineQuery("read_cursor", (db, { chainId }: Params<{ chainId: number }>) =>
  db
    .select({
      number: chainCursors.blockNumber,
      hash: chainCursors.blockHash,
      rechecked: chainCursors.recheckedBlock,
    })
    .from(chainCursors)
    .where(eq(chainCursors.chainId, chainId)),
);
const scanned = defineSql(
  "read_scanned_blocks",
  { chainId: chainCursors.chainId, number: BigInt, timestamp: BigInt },
  () => text`select ${chainCursors.chainId}, ${chainBlocks.number}, ${chainBlocks.timestamp} from ${chainCursors}
    join ${chainBlocks} on ${chainBlocks.chainId} = ${chainCursors.chainId} and ${chainBlocks.number} = ${chainCursors.blockNumber}`,
);
const trail = defineQuery("read_trail", (db, { chainId }: Params<{ chainId: number }>) =>
  db.select().from(chainBlocks).where(eq(chainBlocks.chainId, chainId)).orderBy(asc(chainBlocks.number)),
);

/** The newest blocks of each chain that the watcher read, on a Postgres pool. */
export function trailReads(sql: Sql): Pick<Reads, "cursor" | "recheckedBlock" | "scannedBlocks" | "trail"> {
  return {
    async cursor(chainId) {
      const [row] = await cursor(sql, { chainId });
      return row && { number: BigInt(row.number), hash: row.hash };
    },
    async recheckedBlock(chainId) {
      const [row] = await cursor(sql, { chainId });
      return row?.rechecked == null ? undefined : BigInt(row.rechecked);
    },
    async scannedBlocks() {
      const rows = await scanned(sql, {});
      return new Map(rows.map(({ chainId, number, timestamp }) => [chainId, { number, timestamp }]));
    },
    async trail(chainId) {
      const rows = await trail(sql, { chainId });
      return rows.map(({ number, hash, parentHash, timestamp }) => ({
        number: BigInt(number),
        hash,
        parentHash,
        timestamp: BigInt(timestamp),
        baseFeePerGas: undefined,
      }));
    },
  };
}
