import type { Address, HoldReason, RequestId } from "@causeway/domain";
import type { DepositAddressReads, RouteQuestion } from "./deposit-addresses.port.ts";
import {
  ADDRESS_COLUMNS,
  addressOf,
  FUNDS_COLUMNS,
  fundsOf,
  SWEEP_COLUMNS,
  sweepOf,
} from "./deposit-address-rows.postgres.ts";
import type { AddressRow, FundsRow, SweepRow } from "./deposit-address-rows.postgres.ts";
import { sumUnderWay } from "./deposit-sweeps-under-way.postgres.ts";
import { withoutJob } from "../../db/job-runs.postgres.ts";
import { statement } from "../../db/pool.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";

const find = statement(
  "deposit_address_find",
  `select ${ADDRESS_COLUMNS} from deposit_addresses where address = $1`,
);
const question = statement(
  "deposit_address_question",
  "select question from deposit_addresses where address = $1",
);
const findByRequest = statement(
  "deposit_address_of_request",
  `select ${ADDRESS_COLUMNS} from deposit_addresses
   where address = (select deposit_address from requests where request_id = $1)`,
);
const active = statement(
  "deposit_addresses_active",
  `select ${ADDRESS_COLUMNS} from deposit_addresses where active_at_ms >= $1 order by active_at_ms desc limit $2`,
);
const undecided = statement(
  "deposit_addresses_undecided",
  `select ${ADDRESS_COLUMNS} from deposit_addresses join (
     select address, bool_or(speaks) as speaks, min(seen_at_ms) as since from deposit_address_funds
     where chain_id = $1 and (held_reason is null or held_reason = 'FAST_FILL_NOT_COVERED') group by address) f using (address)
   order by f.speaks desc, f.since limit $2`,
);
const waiting = statement(
  "deposit_addresses_waiting",
  `select ${ADDRESS_COLUMNS} from deposit_addresses a where address > $1
     and exists (select from requests r where r.request_id = a.request_id and r.state = 'quoted')
   order by address limit $2`,
);
const quiet = statement(
  "deposit_addresses_in_order",
  `select ${ADDRESS_COLUMNS} from deposit_addresses where address > $1 order by address limit $2`,
);
const funds = statement(
  "deposit_address_funds_on",
  `select ${FUNDS_COLUMNS} from deposit_address_funds where chain_id = $1 and address = any($2::text[])`,
);
const fundsAt = statement(
  "deposit_address_funds_at",
  `select ${FUNDS_COLUMNS} from deposit_address_funds where address = $1 order by chain_id, currency`,
);
const sweep = statement("deposit_sweep_read", `select ${SWEEP_COLUMNS} from deposit_sweeps where id = $1`);
const sweepsFrom = statement(
  "deposit_sweeps_from",
  `select ${SWEEP_COLUMNS} from deposit_sweeps where address = $1 order by id desc limit $2`,
);
const sweepOfRequest = statement(
  "deposit_sweep_of_request",
  `select ${SWEEP_COLUMNS} from deposit_sweeps where request_id = $1 order by state = 'void', id limit 1`,
);
const voidSweeps = statement(
  "deposit_sweeps_void",
  `select count(*)::int as count, coalesce(max(created_at_ms), 0) as last_at_ms from deposit_sweeps
   where address = $1 and chain_id = $2 and currency = $3 and state = 'void'`,
);
const isUsed = statement(
  "deposit_address_request_used",
  `select from requests where request_id = $1 and superseded_by is not null
   union all select from deposit_sweeps where request_id = $1 and state <> 'void' limit 1`,
);
const frontedAt = statement(
  "deposit_address_fronted",
  `select request_id from requests r where deposit_address = $1 and front in ('held', 'debited') and deposit_id is null and superseded_by is null
     and not exists (select from deposit_sweeps s where s.request_id = r.request_id and s.state <> 'void')
   order by created_at_ms, request_id`,
);
const lostSweep = withoutJob("sweep", "s.id::text", "s.created_at_ms");
const overdue = statement(
  "deposit_sweeps_overdue",
  `select id from deposit_sweeps s ${lostSweep.join} where state = 'planned' and created_at_ms < $1 and ${lostSweep.isLost}
   order by ${lostSweep.order} limit $2`,
);
const unswept = statement(
  "deposit_address_unswept",
  `select chain_id, currency, held_reason, count(*) as places, sum(amount) as amount, min(seen_at_ms) as oldest
   from deposit_address_funds group by chain_id, currency, held_reason`,
);

/** Deposit addresses read on the pool. */
export function depositAddressReads(sql: Sql): DepositAddressReads {
  return {
    async find(address) {
      const [row] = await sql.query<AddressRow>(find, [address]);
      return row && addressOf(row);
    },
    async question(address) {
      const [row] = await sql.query<{ question: string }>(question, [address]);
      if (row === undefined) throw new Error(`invariant violated: deposit address ${address} was not issued`);
      return JSON.parse(row.question) as RouteQuestion;
    },
    async findByRequest(requestId) {
      const [row] = await sql.query<AddressRow>(findByRequest, [requestId]);
      return row && addressOf(row);
    },
    active: async (sinceMs, limit) => (await sql.query<AddressRow>(active, [sinceMs, limit])).map(addressOf),
    undecided: async (chainId, limit) =>
      (await sql.query<AddressRow>(undecided, [chainId, limit])).map(addressOf),
    waiting: async (after, limit) => (await sql.query<AddressRow>(waiting, [after, limit])).map(addressOf),
    quiet: async (after, limit) => (await sql.query<AddressRow>(quiet, [after, limit])).map(addressOf),
    funds: async (chainId, addresses) =>
      (await sql.query<FundsRow>(funds, [chainId, addresses])).map(fundsOf),
    fundsAt: async (address) => (await sql.query<FundsRow>(fundsAt, [address])).map(fundsOf),
    underWay: async (chainId, addresses, balanceBlock) =>
      await sumUnderWay(sql, chainId, addresses, balanceBlock),
    async sweep(id) {
      const [row] = await sql.query<SweepRow>(sweep, [id]);
      return row && sweepOf(row);
    },
    sweepsFrom: async (address, limit) =>
      (await sql.query<SweepRow>(sweepsFrom, [address, limit])).map(sweepOf),
    async sweepOf(requestId) {
      const [row] = await sql.query<SweepRow>(sweepOfRequest, [requestId]);
      return row && sweepOf(row);
    },
    async voidSweeps({ address, chainId, currency }) {
      const [row] = await sql.query<{ count: number; last_at_ms: number }>(voidSweeps, [
        address,
        chainId,
        currency,
      ]);
      return { count: row?.count ?? 0, lastAtMs: row?.last_at_ms ?? 0 };
    },
    isUsed: async (requestId) => (await sql.query(isUsed, [requestId])).length > 0,
    async frontedAt(address) {
      const rows = await sql.query<{ request_id: string }>(frontedAt, [address]);
      return rows.map(({ request_id }) => request_id as RequestId);
    },
    async overdue({ sinceBeforeMs, nowMs }, limit) {
      const rows = await sql.query<{ id: number }>(overdue, [sinceBeforeMs, limit, nowMs]);
      return rows.map(({ id }) => String(id));
    },
    async unswept() {
      const rows = await sql.query<{
        chain_id: number;
        currency: string;
        held_reason: string | null;
        places: number;
        amount: bigint;
        oldest: number;
      }>(unswept, []);
      return rows.map((row) => ({
        chainId: row.chain_id,
        currency: row.currency as Address,
        held: (row.held_reason as HoldReason | null) ?? undefined,
        places: row.places,
        amount: row.amount,
        oldestSeenAtMs: row.oldest,
      }));
    },
  };
}
