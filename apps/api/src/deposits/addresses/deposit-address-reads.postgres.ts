import type { Address, RequestId } from "@causeway/domain";
import { asc, desc, eq, sql as text, type SQL } from "drizzle-orm";
import type { DepositAddressReads } from "./deposit-addresses.port.ts";
import { defineQuery, defineSql, type Params } from "../../db/define-query.postgres.ts";
import { lostJob } from "../../db/job-runs.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { requests } from "../../requests/requests.tables.ts";
import { ADDRESS, addressOf, FUNDS, fundsOf, SWEEP, sweepOf } from "./deposit-address-rows.postgres.ts";
import {
  depositAddresses as addresses,
  depositAddressFunds as funds,
  depositSweeps as sweeps,
} from "./deposit-addresses.tables.ts";
import { sumUnderWay } from "./deposit-sweeps-under-way.postgres.ts";

type ByAddress = Params<{ address: Address }>;
type ByRequest = Params<{ requestId: RequestId }>;
const find = defineQuery("deposit_address_find", (db, { address }: ByAddress) =>
  db.select(ADDRESS).from(addresses).where(eq(addresses.address, address)),
);
const question = defineQuery("deposit_address_question", (db, { address }: ByAddress) =>
  db.select({ question: addresses.question }).from(addresses).where(eq(addresses.address, address)),
);
const findByRequest = defineQuery("deposit_address_of_request", (db, { requestId }: ByRequest) =>
  db
    .select(ADDRESS)
    .from(addresses)
    .where(
      text`${addresses.address} = (select ${requests.depositAddress} from ${requests} where ${requests.requestId} = ${requestId})`,
    ),
);
/** An EVM address may exist on every EVM chain; a non-EVM address exists only on the chain of its quote. */
const isOn = (chainId: unknown): SQL =>
  text`(${addresses.quotedChainId} = ${chainId} or (${chainId}::bigint is null and length(${addresses.address}) = 42))`;
const active = defineQuery(
  "deposit_addresses_active",
  (db, p: Params<{ sinceMs: number; chainId: number | null; limit: number }>) =>
    db
      .select(ADDRESS)
      .from(addresses)
      .where(text`${addresses.activeAtMs} >= ${p.sinceMs} and ${isOn(p.chainId)}`)
      .orderBy(desc(addresses.activeAtMs))
      .limit(text.placeholder("limit")),
);
const undecided = defineQuery(
  "deposit_addresses_undecided",
  (db, p: Params<{ chainId: number; limit: number }>) =>
    db
      .select(ADDRESS)
      .from(addresses)
      .innerJoin(
        text`(select ${funds.address}, bool_or(${funds.speaks}) as speaks, min(${funds.seenAtMs}) as since from ${funds}
          where ${funds.chainId} = ${p.chainId} and (${funds.heldReason} is null or ${funds.heldReason} = 'FAST_FILL_NOT_COVERED')
          group by ${funds.address}) f`,
        text`f.address = ${addresses.address}`,
      )
      .orderBy(text`f.speaks desc, f.since`)
      .limit(text.placeholder("limit")),
);
const waiting = defineQuery(
  "deposit_addresses_waiting",
  (db, p: Params<{ after: Address | ""; chainId: number | null; limit: number }>) =>
    db
      .select(ADDRESS)
      .from(addresses)
      .where(
        text`${addresses.address} > ${p.after} and ${isOn(p.chainId)}
          -- Not "exists", which the planner may answer by reading all requests.
          and (select ${requests.state} from ${requests} where ${requests.requestId} = ${addresses.requestId}) = 'quoted'`,
      )
      .orderBy(asc(addresses.address))
      .limit(text.placeholder("limit")),
);
const inOrder = defineQuery(
  "deposit_addresses_in_order",
  (db, p: Params<{ after: Address | ""; chainId: number | null; limit: number }>) =>
    db
      .select(ADDRESS)
      .from(addresses)
      .where(text`${addresses.address} > ${p.after} and ${isOn(p.chainId)}`)
      .orderBy(asc(addresses.address))
      .limit(text.placeholder("limit")),
);
const fundsOn = defineQuery(
  "deposit_address_funds_on",
  (db, p: Params<{ chainId: number; addresses: readonly Address[] }>) =>
    db
      .select(FUNDS)
      .from(funds)
      .where(text`${funds.chainId} = ${p.chainId} and ${funds.address} = any(${p.addresses}::text[])`),
);
const fundsAt = defineQuery("deposit_address_funds_at", (db, { address }: ByAddress) =>
  db
    .select(FUNDS)
    .from(funds)
    .where(eq(funds.address, address))
    .orderBy(asc(funds.chainId), asc(funds.currency)),
);
const sweep = defineQuery("deposit_sweep_read", (db, { id }: Params<{ id: string }>) =>
  db.select(SWEEP).from(sweeps).where(eq(sweeps.id, id)),
);
const sweepsFrom = defineQuery("deposit_sweeps_from", (db, p: Params<{ address: Address; limit: number }>) =>
  db
    .select(SWEEP)
    .from(sweeps)
    .where(eq(sweeps.address, p.address))
    .orderBy(desc(sweeps.id))
    .limit(text.placeholder("limit")),
);
const sweepOfRequest = defineQuery("deposit_sweep_of_request", (db, { requestId }: ByRequest) =>
  db
    .select(SWEEP)
    .from(sweeps)
    .where(eq(sweeps.requestId, requestId))
    .orderBy(text`${sweeps.state} = 'void'`, asc(sweeps.id))
    .limit(1),
);
const voidSweeps = defineSql(
  "deposit_sweeps_void",
  { count: Number, lastAtMs: Number },
  (p: Params<{ address: Address; chainId: number; currency: Address }>) => text`
    select count(*) as count, coalesce(max(${sweeps.createdAtMs}), 0) as last_at_ms from ${sweeps}
    where ${sweeps.address} = ${p.address} and ${sweeps.chainId} = ${p.chainId} and ${sweeps.currency} = ${p.currency}
      and ${sweeps.state} = 'void'`,
);
const isUsed = defineSql(
  "deposit_address_request_used",
  {},
  ({ requestId }: ByRequest) => text`
    select from ${requests} where ${requests.requestId} = ${requestId} and ${requests.supersededBy} is not null
    union all select from ${sweeps} where ${sweeps.requestId} = ${requestId} and ${sweeps.state} <> 'void' limit 1`,
);
const frontedAt = defineSql(
  "deposit_address_fronted",
  { requestId: requests.requestId },
  ({ address }: ByAddress) => text`
    select ${requests.requestId} from ${requests}
    where ${requests.depositAddress} = ${address} and ${requests.front} in ('held', 'debited') and ${requests.depositId} is null
      and ${requests.supersededBy} is null and not exists (select from ${sweeps}
        where ${sweeps.requestId} = ${requests.requestId} and ${sweeps.state} <> 'void')
    order by ${requests.createdAtMs}, ${requests.requestId}`,
);
const overdue = defineSql(
  "deposit_sweeps_overdue",
  { id: sweeps.id },
  (p: Params<{ sinceBeforeMs: number; nowMs: number; limit: number }>) => {
    const since = text`${sweeps.createdAtMs}`;
    const lost = lostJob("sweep", text`${sweeps.id}::text`, since, p.nowMs);
    return text`select ${sweeps.id} from ${sweeps} ${lost.join}
      where ${sweeps.state} = 'planned' and ${since} < ${p.sinceBeforeMs} and ${lost.isLost} order by ${lost.order} limit ${p.limit}`;
  },
);
const unswept = defineSql(
  "deposit_address_unswept",
  {
    chainId: funds.chainId,
    currency: funds.currency,
    heldReason: funds.heldReason,
    places: Number,
    amount: BigInt,
    oldestSeenAtMs: Number,
  },
  () => text`
    select ${funds.chainId}, ${funds.currency}, ${funds.heldReason}, count(*) as places, sum(${funds.amount}) as amount,
      min(${funds.seenAtMs}) as oldest_seen_at_ms
    from ${funds} group by ${funds.chainId}, ${funds.currency}, ${funds.heldReason}`,
);

/** Deposit addresses, on a Postgres pool. */
export function depositAddressReads(sql: Sql): DepositAddressReads {
  return {
    async find(address) {
      const [row] = await find(sql, { address });
      return row && addressOf(row);
    },
    async question(address) {
      const [row] = await question(sql, { address });
      if (row === undefined) throw new Error(`invariant violated: deposit address ${address} was not issued`);
      return row.question;
    },
    async findByRequest(requestId) {
      const [row] = await findByRequest(sql, { requestId });
      return row && addressOf(row);
    },
    active: async (sinceMs, limit, nonEvmChainId) =>
      (await active(sql, { chainId: nonEvmChainId ?? null, sinceMs, limit })).map(addressOf),
    undecided: async (chainId, limit) => (await undecided(sql, { chainId, limit })).map(addressOf),
    waiting: async (after, limit, nonEvmChainId) =>
      (await waiting(sql, { chainId: nonEvmChainId ?? null, after, limit })).map(addressOf),
    quiet: async (after, limit, nonEvmChainId) =>
      (await inOrder(sql, { chainId: nonEvmChainId ?? null, after, limit })).map(addressOf),
    funds: async (chainId, watchedAddresses) =>
      (await fundsOn(sql, { chainId, addresses: watchedAddresses })).map(fundsOf),
    fundsAt: async (address) => (await fundsAt(sql, { address })).map(fundsOf),
    underWay: async (chainId, watchedAddresses, balanceBlock) =>
      await sumUnderWay(sql, chainId, watchedAddresses, balanceBlock),
    async sweep(id) {
      const [row] = await sweep(sql, { id });
      return row && sweepOf(row);
    },
    sweepsFrom: async (address, limit) => (await sweepsFrom(sql, { address, limit })).map(sweepOf),
    async sweepOf(requestId) {
      const [row] = await sweepOfRequest(sql, { requestId });
      return row && sweepOf(row);
    },
    async voidSweeps({ address, chainId, currency }) {
      return (await voidSweeps(sql, { address, chainId, currency }))[0] ?? { count: 0, lastAtMs: 0 };
    },
    isUsed: async (requestId) => (await isUsed(sql, { requestId })).length > 0,
    frontedAt: async (address) => (await frontedAt(sql, { address })).map(({ requestId }) => requestId),
    overdue: async ({ sinceBeforeMs, nowMs }, limit) =>
      (await overdue(sql, { sinceBeforeMs, nowMs, limit })).map(({ id }) => String(id)),
    async unswept() {
      const rows = await unswept(sql, {});
      return rows.map(({ heldReason, ...row }) => ({ ...row, held: heldReason ?? undefined }));
    },
  };
}
