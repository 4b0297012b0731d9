import type { RequestId } from "@causeway/domain";
import { eq, sql as text } from "drizzle-orm";
import type { FillBurnReads, FillBurnWrites } from "./fill-burns.port.ts";
import { defineSql, nameOf, type Params, defineWrite, defineSqlWrite } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { fillBurns, slots } from "./payments.tables.ts";

interface RequestParam extends Record<string, unknown> {
  readonly requestId: RequestId;
}
interface Part extends RequestParam {
  readonly part: bigint;
  readonly whole: bigint;
}
interface Burn extends RequestParam {
  readonly slotId: string;
  readonly chainId: number;
  readonly wei: bigint;
  readonly usd: bigint | null;
  readonly atMs: number;
}
const note = defineWrite(
  "fill_burn_note",
  (db, { slotId, requestId, chainId, wei, usd, atMs }: Params<Burn>) =>
    db
      .insert(fillBurns)
      .values({ slotId: text`${slotId}`, requestId, chainId, wei, unpaidWei: wei, usd, atMs })
      .onConflictDoNothing({ target: fillBurns.slotId }),
);
const count = defineSql(
  "fill_burn_count",
  { burns: Number },
  (p: Params<RequestParam>) =>
    text`select count(*) as burns from ${fillBurns} where ${fillBurns.requestId} = ${p.requestId}`,
);
const keep = defineWrite("fill_burn_keep", (db, p: Params<Part>) =>
  db
    .update(fillBurns)
    .set({
      unpaidWei: text`div((${fillBurns.wei} - coalesce(${fillBurns.sponsorWei}, 0)) * ${p.part}, ${p.whole})`,
    })
    .where(eq(fillBurns.requestId, p.requestId)),
);
const uncharged = defineSql(
  "fill_burn_uncharged",
  { usd: BigInt },
  (p: Params<RequestParam>) => text`select coalesce(sum(${fillBurns.usd}), 0) as usd from ${fillBurns}
    where ${fillBurns.requestId} = ${p.requestId} and ${fillBurns.sponsorWei} is null`,
);
const charge = defineSqlWrite("fill_burn_charge", (p: Params<Part>) => {
  const paid = text`div(${fillBurns.wei} * ${p.part}, ${p.whole})`;
  return text`update ${fillBurns} set ${nameOf(fillBurns.sponsorWei)} = ${paid}, ${nameOf(fillBurns.unpaidWei)} = ${fillBurns.wei} - ${paid}
    where ${fillBurns.requestId} = ${p.requestId} and ${fillBurns.sponsorWei} is null and ${fillBurns.usd} is not null`;
});
const sponsored = defineSql(
  "read_sponsored_fill_burns",
  { wei: BigInt },
  (p: Params<RequestParam>) => text`select coalesce(sum(${fillBurns.sponsorWei}), 0) as wei from ${fillBurns}
    where ${fillBurns.requestId} = ${p.requestId}`,
);
const unpaidSince = defineSql(
  "read_unpaid_fill_burns",
  { chainId: fillBurns.chainId, wei: BigInt },
  (p: Params<{ sinceMs: number }>) => text`
    select ${fillBurns.chainId}, sum(${fillBurns.unpaidWei}) as wei from ${fillBurns}
    where ${fillBurns.atMs} > ${p.sinceMs} and ${fillBurns.unpaidWei} > 0 group by ${fillBurns.chainId}`,
);
const lockUnderWay = defineSqlWrite(
  "fill_burn_lock",
  () => text`select pg_advisory_xact_lock(hashtextextended('causeway:burns under way', 0))`,
);
const underWay = defineSql(
  "fill_burns_under_way",
  { usd: BigInt },
  () => text`select coalesce(sum(${slots.uncoveredUsd}), 0) as usd from ${slots}
    where ${slots.uncoveredUsd} > 0 and ${slots.state} in ('open', 'mined')
      and (${slots.state} = 'open' or ${slots.minedStatus} = 'reverted')`,
);
const noteUnderWay = defineWrite(
  "fill_burn_note_under_way",
  (db, p: Params<{ slotId: string; usd: bigint | null }>) =>
    db.update(slots).set({ uncoveredUsd: p.usd }).where(eq(slots.id, p.slotId)),
);

/** Gas of reverted fills inside one transaction. */
export function fillBurnWrites(sql: Sql): FillBurnWrites {
  return {
    async note({ id, chainId, gasUsed = 0n, effectiveGasPrice = 0n }, requestId, usd, atMs): Promise<number> {
      const wei = gasUsed * effectiveGasPrice;
      await note(sql, { slotId: id, requestId, chainId, wei, usd: usd ?? null, atMs });
      return (await count(sql, { requestId }))[0]?.burns ?? 0;
    },
    unchargedUsd: async (requestId) => (await uncharged(sql, { requestId }))[0]?.usd ?? 0n,
    async noteCharged(requestId, { paidUsd, usedUsd }) {
      await charge(sql, { requestId, part: paidUsd, whole: usedUsd });
    },
    async lockInProgress() {
      await lockUnderWay(sql, {});
      return (await underWay(sql, {}))[0]?.usd ?? 0n;
    },
    async noteInProgress(slotId, usd) {
      await noteUnderWay(sql, { slotId, usd });
    },
    async notePaidByOthers(requestId, { paidByOthers, revertedGas }): Promise<void> {
      if (revertedGas === 0n) return;
      const unpaid = paidByOthers >= revertedGas ? 0n : revertedGas - (paidByOthers > 0n ? paidByOthers : 0n);
      await keep(sql, { requestId, part: unpaid, whole: revertedGas });
    },
  };
}

/** The same outside of transactions. */
export function fillBurnReads(sql: Sql): FillBurnReads {
  return {
    sponsoredBurnWei: async (requestId) => (await sponsored(sql, { requestId }))[0]?.wei ?? 0n,
    unpaidBurnsSince: async (sinceMs) => await unpaidSince(sql, { sinceMs }),
  };
}
