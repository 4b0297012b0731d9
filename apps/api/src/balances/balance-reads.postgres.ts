import type { Address, Hex, Hex32, MovementContext, WalletAccount } from "@causeway/domain";
import type { BalanceEvent, BalanceReads } from "./balance-reads.port.ts";
import { CLAIM_COLUMNS, claimOf } from "./claim-writes.postgres.ts";
import type { ClaimRow } from "./claim-writes.postgres.ts";
import { BOOK_QUERY, HELD_QUERY, bookOf } from "./ledger-rows.postgres.ts";
import type { BookRow, HeldRow } from "./ledger-rows.postgres.ts";
import { HOLD_COLUMNS, holdOf } from "./ledger-writes.postgres.ts";
import type { HoldRow } from "./ledger-writes.postgres.ts";
import { withoutJob } from "../db/job-runs.postgres.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

const book = statement("balance_book", BOOK_QUERY);
const held = statement("balance_held", HELD_QUERY);
const events = statement(
  "balance_events",
  `select e.id, e.account, e.chain_id, e.currency, e.amount, e.balance_after, m.context, m.reason, m.request_id, m.created_at_ms
   from ledger_entries e join ledger_movements m on m.id = e.movement_id
   where e.wallet = $1 and ($2::bigint is null or e.id < $2) order by e.id desc limit $3`,
);
const holds = statement(
  "balance_holds",
  `select ${HOLD_COLUMNS} from holds
   where wallet = $1 and ($2::bigint is null or (placed_at_ms, request_id) < ($2, $3))
   order by placed_at_ms desc, request_id desc limit $4`,
);
const claims = statement(
  "balance_claims",
  `select ${CLAIM_COLUMNS} from claims
   where wallet = $1 and state <> 'offered' and ($2::bigint is null or (created_at_ms, claim_id) < ($2, $3))
   order by created_at_ms desc, claim_id desc limit $4`,
);
const claim = statement("balance_claim", `select ${CLAIM_COLUMNS} from claims where claim_id = $1`);
const lostClaim = withoutJob("claim", "c.claim_id", "c.updated_at_ms");
const overdueClaims = statement(
  "balance_overdue_claims",
  `select claim_id from claims c ${lostClaim.join} where state = 'paying' and updated_at_ms < $1 and ${lostClaim.isLost}
     and not exists (select 1 from slots s where s.leg_kind = 'claim' and s.leg_id = c.claim_id and s.state <> 'dead')
   order by ${lostClaim.order} limit $2`,
);

const totals = statement(
  "balance_totals",
  `select
     (select count(*) from holds where state = 'active') as active_holds,
     (select coalesce(sum(usd), 0) from holds where state = 'active') as held_usd,
     (select count(*) from app_top_ups where state = 'seen' and canonical) as top_ups_seen,
     (select count(*) from app_top_ups where state = 'unattributed' and canonical) as top_ups_unattributed,
     (select count(*) from claims where state = 'paying') as claims_paying,
     (select min(created_at_ms) from claims where state = 'paying') as oldest_claim_ms`,
);
const owed = statement(
  "balance_owed",
  `select a.currency, -sum(e.balance_after) as amount from ledger_accounts a cross join lateral (
     select balance_after from ledger_entries
     where wallet = a.wallet and account = a.account and chain_id = a.chain_id and currency = a.currency
     order by seq desc limit 1
   ) e
   where a.account = 'owed' group by 1 having sum(e.balance_after) <> 0`,
);

interface TotalsRow {
  active_holds: number;
  held_usd: bigint;
  top_ups_seen: number;
  top_ups_unattributed: number;
  claims_paying: number;
  oldest_claim_ms: number | null;
}

interface EventRow {
  id: number;
  account: string;
  chain_id: number;
  currency: string;
  amount: bigint;
  balance_after: bigint;
  context: string;
  reason: string;
  request_id: string | null;
  created_at_ms: number;
}

/** App balances outside any transaction. */
export function balanceReads(sql: Sql): BalanceReads {
  return {
    async book(wallet) {
      const [lines, heldRows] = await Promise.all([
        sql.query<BookRow>(book, [wallet]),
        sql.query<HeldRow>(held, [wallet]),
      ]);
      return bookOf(wallet, lines, heldRows);
    },
    async events(wallet, { limit, after }) {
      return (await sql.query<EventRow>(events, [wallet, after ?? null, limit])).map(eventOf);
    },
    async holds(wallet, { limit, after }) {
      const values = [wallet, after?.atMs ?? null, after?.id ?? null, limit];
      return (await sql.query<HoldRow>(holds, values)).map(holdOf);
    },
    async claims(wallet, { limit, after }) {
      const values = [wallet, after?.atMs ?? null, after?.id ?? null, limit];
      return (await sql.query<ClaimRow>(claims, values)).map(claimOf);
    },
    async claim(claimId) {
      const [row] = await sql.query<ClaimRow>(claim, [claimId]);
      return row && claimOf(row);
    },
    async overdueClaims({ sinceBeforeMs, nowMs }, limit) {
      const rows = await sql.query<{ claim_id: string }>(overdueClaims, [sinceBeforeMs, limit, nowMs]);
      return rows.map(({ claim_id }) => claim_id as Hex32);
    },
    async totals() {
      const [[row], debts] = await Promise.all([
        sql.query<TotalsRow>(totals, []),
        sql.query<{ currency: string; amount: bigint }>(owed, []),
      ]);
      if (row === undefined) throw new Error("invariant violated: select without a table returned no row");
      return {
        activeHolds: row.active_holds,
        heldUsd: row.held_usd,
        owed: debts.map(({ currency, amount }) => ({ currency: currency as Address, amount })),
        topUpsSeen: row.top_ups_seen,
        topUpsUnattributed: row.top_ups_unattributed,
        claimsPaying: row.claims_paying,
        oldestClaimMs: row.oldest_claim_ms ?? undefined,
      };
    },
  };
}

function eventOf(row: EventRow): BalanceEvent {
  return {
    id: String(row.id),
    account: row.account as WalletAccount,
    chainId: row.chain_id,
    currency: row.currency as Address,
    delta: row.amount,
    balanceAfter: row.balance_after,
    context: row.context as MovementContext,
    reason: row.reason,
    requestId: (row.request_id as Hex | null) ?? undefined,
    atMs: row.created_at_ms,
  };
}
