import type { Address, Hex } from "@causeway/domain";
import { desc, eq, sql as text } from "drizzle-orm";
import type { BalanceReads } from "./balance-reads.port.ts";
import { defineQuery, defineSql, nullable, type Params } from "../db/define-query.postgres.ts";
import { lostJob } from "../db/job-runs.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { slots } from "../payments/payments.tables.ts";
import { CLAIM, claimOf } from "./claim-writes.postgres.ts";
import { claims } from "./claims.tables.ts";
import { bookOf, HOLD, holdOf, newestEntry, readBook, readHeld } from "./ledger-rows.postgres.ts";
import { ledgerAccounts, ledgerEntries, ledgerMovements } from "./ledger.tables.ts";
import { holds } from "./reservations.tables.ts";
import { appTopUps } from "./top-ups.tables.ts";

const events = defineQuery(
  "balance_events",
  (db, p: Params<{ wallet: Address; after: string | null; limit: number }>) =>
    db
      .select({
        id: ledgerEntries.id,
        account: ledgerEntries.account,
        chainId: ledgerEntries.chainId,
        currency: ledgerEntries.currency,
        delta: ledgerEntries.amount,
        balanceAfter: ledgerEntries.balanceAfter,
        context: ledgerMovements.context,
        reason: ledgerMovements.reason,
        requestId: ledgerMovements.requestId,
        atMs: ledgerMovements.createdAtMs,
      })
      .from(ledgerEntries)
      .innerJoin(ledgerMovements, eq(ledgerMovements.id, ledgerEntries.movementId))
      .where(
        text`${ledgerEntries.wallet} = ${p.wallet} and (${p.after}::bigint is null or ${ledgerEntries.id} < ${p.after})`,
      )
      .orderBy(desc(ledgerEntries.id))
      .limit(text.placeholder("limit")),
);
interface PageParams extends Record<string, unknown> {
  readonly wallet: Address;
  readonly afterMs: number | null;
  readonly afterId: string | null;
  readonly limit: number;
}
const holdsOf = defineQuery("balance_holds", (db, p: Params<PageParams>) =>
  db
    .select(HOLD)
    .from(holds)
    .where(
      text`${holds.wallet} = ${p.wallet}
        and (${p.afterMs}::bigint is null or (${holds.placedAtMs}, ${holds.requestId}) < (${p.afterMs}, ${p.afterId}))`,
    )
    .orderBy(desc(holds.placedAtMs), desc(holds.requestId))
    .limit(text.placeholder("limit")),
);
const claimsOf = defineQuery("balance_claims", (db, p: Params<PageParams>) =>
  db
    .select(CLAIM)
    .from(claims)
    .where(
      text`${claims.wallet} = ${p.wallet} and ${claims.state} <> 'offered'
        and (${p.afterMs}::bigint is null or (${claims.createdAtMs}, ${claims.claimId}) < (${p.afterMs}, ${p.afterId}))`,
    )
    .orderBy(desc(claims.createdAtMs), desc(claims.claimId))
    .limit(text.placeholder("limit")),
);
const claimById = defineQuery("balance_claim", (db, { claimId }: Params<{ claimId: Hex }>) =>
  db.select(CLAIM).from(claims).where(eq(claims.claimId, claimId)),
);
const overdueClaims = defineSql(
  "balance_overdue_claims",
  { claimId: claims.claimId },
  (p: Params<{ sinceBeforeMs: number; nowMs: number; limit: number }>) => {
    const since = text`${claims.updatedAtMs}`;
    const lost = lostJob("claim", text`${claims.claimId}`, since, p.nowMs);
    return text`select ${claims.claimId} from ${claims} ${lost.join}
      where ${claims.state} = 'paying' and ${since} < ${p.sinceBeforeMs} and ${lost.isLost}
        and not exists (select from ${slots} where ${slots.legKind} = 'claim' and ${slots.legId} = ${claims.claimId}
          and ${slots.state} <> 'dead')
      order by ${lost.order} limit ${p.limit}`;
  },
);
const totals = defineSql(
  "balance_totals",
  {
    activeHolds: Number,
    heldUsd: BigInt,
    topUpsSeen: Number,
    topUpsUnattributed: Number,
    claimsPaying: Number,
    oldestClaimMs: nullable(Number),
  },
  () => text`select
    (select count(*) from ${holds} where ${holds.state} = 'active') as active_holds,
    (select coalesce(sum(${holds.usd}), 0) from ${holds} where ${holds.state} = 'active') as held_usd,
    (select count(*) from ${appTopUps} where ${appTopUps.state} = 'seen' and ${appTopUps.canonical}) as top_ups_seen,
    (select count(*) from ${appTopUps} where ${appTopUps.state} = 'unattributed' and ${appTopUps.canonical}) as top_ups_unattributed,
    (select count(*) from ${claims} where ${claims.state} = 'paying') as claims_paying,
    (select min(${claims.createdAtMs}) from ${claims} where ${claims.state} = 'paying') as oldest_claim_ms`,
);
const owed = defineSql(
  "balance_owed",
  { currency: ledgerAccounts.currency, amount: BigInt },
  () => text`
    select ${ledgerAccounts.currency}, -sum(e.balance_after) as amount
    from ${ledgerAccounts} cross join lateral (${newestEntry}) e
    where ${ledgerAccounts.account} = 'owed' group by 1 having sum(e.balance_after) <> 0`,
);

export function balanceReads(sql: Sql): BalanceReads {
  return {
    async book(wallet) {
      const [lines, held] = await Promise.all([readBook(sql, { wallet }), readHeld(sql, { wallet })]);
      return bookOf(wallet, lines, held);
    },
    async events(wallet, { limit, after = null }) {
      const rows = await events(sql, { wallet, after, limit });
      return rows.map((row) => {
        const { account, balanceAfter } = row;
        if (balanceAfter === null || account === "custody" || account === "fees" || account === "fronted")
          throw new Error(`invariant violated: entry ${row.id} of a wallet is in a house account`);
        return { ...row, id: String(row.id), account, balanceAfter, requestId: row.requestId ?? undefined };
      });
    },
    async holds(wallet, { limit, after }) {
      const page = { wallet, afterMs: after?.atMs ?? null, afterId: after?.id ?? null, limit };
      return (await holdsOf(sql, page)).map(holdOf);
    },
    async claims(wallet, { limit, after }) {
      const page = { wallet, afterMs: after?.atMs ?? null, afterId: after?.id ?? null, limit };
      return (await claimsOf(sql, page)).map(claimOf);
    },
    async claim(claimId) {
      const [row] = await claimById(sql, { claimId });
      return row && claimOf(row);
    },
    overdueClaims: async ({ sinceBeforeMs, nowMs }, limit) =>
      (await overdueClaims(sql, { sinceBeforeMs, nowMs, limit })).map(({ claimId }) => claimId),
    async totals() {
      const [[row], debts] = await Promise.all([totals(sql, {}), owed(sql, {})]);
      if (row === undefined) throw new Error("invariant violated: select without a table returned no row");
      return { ...row, owed: debts, oldestClaimMs: row.oldestClaimMs ?? undefined };
    },
  };
}
