import type { Address, Hex, TxHash } from "@causeway/domain";
import { asc, eq, sql as text, type SQL } from "drizzle-orm";
import type { Slot } from "../db/records.port.ts";
import type { Reads } from "../db/reads.port.ts";
import { defineQuery, defineSql, type Params, type Row } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { readTogether, READS_TOGETHER } from "../db/read-by-key.ts";
import { tickBatcher } from "../db/tick-batcher.ts";
import type { ServerWatch } from "../db/server-watch.postgres.ts";
import { attempts, lanes, nonceUsers, slots } from "./payments.tables.ts";
import {
  isReconciledOn,
  SERVER_IDENTITY,
  SERVER_START,
  SLOT,
  slotOf,
  type AttemptRow,
  type SlotRow,
} from "./slot-rows.postgres.ts";

/**
 * Defines a read of slots with their attempts, in one statement: with two, a payment could be open although
 * its signed bytes were dropped.
 */
const readSlots = <P extends Record<string, unknown>>(name: string, where: (params: Params<P>) => SQL) =>
  defineQuery(name, (db, params: Params<P>) =>
    db
      .select({ slot: SLOT, attempt: attempts })
      .from(slots)
      .leftJoin(attempts, eq(attempts.slotId, slots.id))
      .where(where(params))
      .orderBy(asc(slots.sender), asc(slots.nonce), asc(attempts.n)),
  );
interface LegOfSlot extends Record<string, unknown> {
  readonly kind: string;
  readonly legId: string;
}
const slotOfLeg = readSlots(
  "read_slot_of_leg",
  (p: Params<LegOfSlot>) =>
    text`${slots.legKind} = ${p.kind} and ${slots.legId} = ${p.legId} and ${slots.state} <> 'dead'`,
);
// Only for legs whose id is their request's id, by which dead slots are found.
const revertedSlotsOfLeg = readSlots(
  "read_reverted_slots_of_leg",
  (
    p: Params<LegOfSlot>,
  ) => text`${slots.requestId} = ${p.legId} and ${slots.legKind} = ${p.kind} and ${slots.legId} = ${p.legId}
    and ${slots.state} = 'dead' and ${slots.minedStatus} = 'reverted'`,
);
const slotById = readSlots("read_slot", ({ id }: Params<{ id: string }>) => text`${slots.id} = ${id}`);
const fromNonce = readSlots(
  "read_slots_from_nonce",
  (p: Params<{ chainId: number; sender: Address; from: number }>) => text`${slots.chainId} = ${p.chainId}
    and ${slots.sender} = ${p.sender} and ${slots.nonce} >= ${p.from}`,
);
const unsettled = readSlots(
  "read_unsettled_slots",
  (p: Params<{ chainId: number; senders: readonly Address[] }>) => text`${slots.chainId} = ${p.chainId}
    and ${slots.sender} = any(${p.senders}::text[]) and ${slots.state} in ('open', 'mined')`,
);
interface TrackedTrail extends Record<string, unknown> {
  readonly chainId: number;
  readonly finalBlock: bigint;
  readonly hashes: readonly string[];
}
// Includes former keys: following their nonces needs no key. Under load, most slots are mined in a known block
// and only wait for it to become final.
const toTrack = readSlots(
  "read_slots_to_track",
  (p: Params<TrackedTrail>) => text`${slots.chainId} = ${p.chainId}
    and ${slots.state} in ('open', 'mined') and (${slots.state} = 'open'
      or (${slots.minedBlockNumber} > ${p.finalBlock}::bigint and ${slots.minedBlockHash} = any(${p.hashes}::text[])) is not true)`,
);
const open = readSlots(
  "read_open_slots",
  (p: Params<{ chainId: number; senders: readonly Address[] }>) => text`${slots.chainId} = ${p.chainId}
    and ${slots.sender} = any(${p.senders}::text[]) and ${slots.state} = 'open'`,
);
const unsettledCalls = readSlots(
  "read_unsettled_calls",
  ({ chainId }: Params<{ chainId: number }>) => text`${slots.chainId} = ${chainId}
    and ${slots.legKind} in ('hub', 'payout') and ${slots.state} in ('open', 'mined')`,
);

interface Lane extends Record<string, unknown> {
  readonly chainId: number;
  readonly sender: Address;
}
const LANE = {
  nextNonce: lanes.nextNonce,
  searchFrom: lanes.searchFrom,
  quietSince: lanes.quietSince,
  heldSinceMs: lanes.heldSinceMs,
  server: String,
  reconciledOn: lanes.server,
  identity: String,
  hasUnexplained: Boolean,
};
type LaneRow = Row<typeof LANE>;
const lane = defineSql(
  "read_lane",
  LANE,
  (p: Params<Lane>) => text`
    select ${lanes.nextNonce}, ${lanes.searchFrom}, ${lanes.quietSince}, ${lanes.heldSinceMs},
      ${SERVER_START} as server, ${lanes.server} as reconciled_on, ${SERVER_IDENTITY} as identity,
      exists (select from ${slots} where ${slots.chainId} = ${lanes.chainId} and ${slots.sender} = ${lanes.sender}
        and ${slots.state} = 'open' and ${slots.unexplainedConfirmed}) as has_unexplained
    from ${lanes} where ${lanes.chainId} = ${p.chainId} and ${lanes.sender} = ${p.sender}`,
);
const anySender = defineQuery("read_has_lane", (db, { chainId }: Params<{ chainId: number }>) =>
  db.select({ sender: lanes.sender }).from(lanes).where(eq(lanes.chainId, chainId)).limit(1),
);

const anyPayment = defineQuery("read_has_payments", (db, p: Params<Lane>) =>
  db
    .select({ id: slots.id })
    .from(slots)
    .where(
      text`${slots.chainId} = ${p.chainId} and ${slots.sender} = ${p.sender} and ${slots.legKind} not in ('hub', 'payout')`,
    )
    .orderBy(asc(slots.nonce))
    .limit(1),
);

interface NonceRange extends Lane {
  readonly from: number;
  readonly to: number;
}
const isInRange = (table: typeof slots | typeof nonceUsers, p: Params<NonceRange>): SQL => text`
  ${table.chainId} = ${p.chainId} and ${table.sender} = ${p.sender} and ${table.nonce} >= ${p.from} and ${table.nonce} < ${p.to}`;
// Nonces that no slot has may have been used by a payment whose rows were lost.
const broadcastBelow = defineSql(
  "read_broadcast_below",
  { below: Number },
  (p: Params<Lane>) => text`
    select coalesce(greatest(
      (select max(${nonceUsers.nonce}) from ${nonceUsers}
        where ${nonceUsers.chainId} = ${p.chainId} and ${nonceUsers.sender} = ${p.sender}),
      (select ${slots.nonce} from ${slots}
        where ${slots.chainId} = ${p.chainId} and ${slots.sender} = ${p.sender}
          -- Not "exists", which the planner may answer from a hash of all attempts.
          and (${slots.minedBlockNumber} is not null or (select true from ${attempts}
            where ${attempts.slotId} = ${slots.id} and ${attempts.firstBroadcastAtMs} is not null limit 1))
        order by ${slots.nonce} desc limit 1)) + 1, 0) as below`,
);
const allocatedNonces = defineQuery("read_given_nonces", (db, p: Params<NonceRange>) =>
  db.select({ nonce: slots.nonce }).from(slots).where(isInRange(slots, p)),
);
const usersOf = defineQuery("read_nonce_users", (db, p: Params<NonceRange>) =>
  db
    .select({ nonce: nonceUsers.nonce, txHash: nonceUsers.txHash, pays: nonceUsers.pays })
    .from(nonceUsers)
    .where(isInRange(nonceUsers, p)),
);
// Once its rows are restored, the nonce has a slot.
const isLost = text`not exists (select from ${slots} where ${slots.chainId} = ${nonceUsers.chainId}
  and ${slots.sender} = ${nonceUsers.sender} and ${slots.nonce} = ${nonceUsers.nonce})`;
interface Payments extends Record<string, unknown> {
  readonly chainIds: readonly number[];
  readonly pays: readonly string[];
  readonly orderIds: readonly (Hex | null)[];
  readonly senders: readonly Address[];
}
const lostPayments = defineSql(
  "read_lost_payments",
  { n: Number, txHash: nonceUsers.txHash },
  (p: Params<Payments>) => text`
    select asked.n, lost.tx_hash
    from unnest(${p.chainIds}::bigint[], ${p.pays}::text[], ${p.orderIds}::text[])
      with ordinality as asked (chain_id, pays, order_id, n)
    cross join lateral (
      select ${nonceUsers.txHash} from ${nonceUsers}
      where (${nonceUsers.chainId} = asked.chain_id and ${nonceUsers.pays} = asked.pays or ${nonceUsers.inputEnd} = asked.order_id)
        and ${nonceUsers.sender} = any(${p.senders}::text[]) and ${isLost} limit 1) as lost`,
);
/** The arguments of {@link Reads.lostPayment}. */
interface Payment {
  readonly chainId: number;
  readonly pays: string;
  readonly orderId: Hex | undefined;
}
const lostPaymentOfOrder = defineQuery(
  "read_lost_payment_of_order",
  (db, p: Params<{ orderId: Hex; senders: readonly Address[] }>) =>
    db
      .select({ chainId: nonceUsers.chainId, txHash: nonceUsers.txHash })
      .from(nonceUsers)
      .where(
        text`${nonceUsers.inputEnd} = ${p.orderId} and ${nonceUsers.sender} = any(${p.senders}::text[]) and ${isLost}`,
      )
      .limit(1),
);
const reserved = defineSql(
  "read_reserved",
  { chainId: slots.chainId, outflowCurrency: slots.outflowCurrency, amount: BigInt },
  () => text`
    select ${slots.chainId}, ${slots.outflowCurrency}, sum(${slots.outflowAmount}) as amount from ${slots}
    where ${slots.state} = 'open' and ${slots.legKind} <> 'execution' group by 1, 2`,
);

type LaneReads = Pick<
  Reads,
  | "slotOfLeg"
  | "revertedSlotsOfLeg"
  | "slotsFrom"
  | "slot"
  | "unsettledSlots"
  | "slotsToTrack"
  | "openSlots"
  | "unsettledCalls"
  | "lane"
  | "hasPayments"
  | "hasLane"
  | "broadcastBelow"
  | "allocatedNonces"
  | "nonceUsers"
  | "lostPayment"
  | "lostPaymentOfOrder"
  | "reserved"
>;

/**
 * Reads lanes and their nonces from a Postgres pool.
 * @param servers shared with the unit of work, which allocates the nonces
 */
export function laneReads(sql: Sql, servers: ServerWatch): LaneReads {
  // One entry per lane, and one per set of the service's keys.
  const laneReaders = new Map<string, () => Promise<LaneRow | undefined>>();
  const lostPaymentReaders = new Map<string, (payment: Payment) => Promise<TxHash | undefined>>();
  return {
    slotOfLeg: async (kind, legId) => slotsIn(await slotOfLeg(sql, { kind, legId }))[0],
    revertedSlotsOfLeg: async (kind, legId) => slotsIn(await revertedSlotsOfLeg(sql, { kind, legId })),
    slotsFrom: async (chainId, sender, from) => slotsIn(await fromNonce(sql, { chainId, sender, from })),
    slot: async (id) => slotsIn(await slotById(sql, { id }))[0],
    unsettledSlots: async (chainId, ...ofSenders) =>
      slotsIn(await unsettled(sql, { chainId, senders: ofSenders })),
    slotsToTrack: async (chainId, { finalBlock, hashes }) =>
      slotsIn(await toTrack(sql, { chainId, finalBlock, hashes: [...hashes.values()] })),
    openSlots: async (chainId, ...ofSenders) => slotsIn(await open(sql, { chainId, senders: ofSenders })),
    unsettledCalls: async (chainId) => slotsIn(await unsettledCalls(sql, { chainId })),
    async lane(chainId, sender) {
      const key = `${chainId} ${sender}`;
      const read =
        laneReaders.get(key) ?? readTogether(async () => (await lane(sql, { chainId, sender }))[0]);
      laneReaders.set(key, read);
      const row = await read();
      if (row === undefined) return undefined;
      const {
        nextNonce,
        hasUnexplained,
        searchFrom,
        quietSince,
        heldSinceMs,
        server,
        identity,
        reconciledOn,
      } = row;
      servers.noteIdentity(identity);
      return {
        nextNonce,
        hasUnexplained,
        searchFrom: searchFrom === null ? undefined : BigInt(searchFrom),
        quietSince: quietSince === null ? undefined : BigInt(quietSince),
        heldSinceMs: heldSinceMs ?? undefined,
        isReconciled: isReconciledOn(identity, reconciledOn),
        isOpen: reconciledOn === identity,
        isServerNew: servers.isNew(server),
      };
    },
    hasPayments: async (chainId, sender) => (await anyPayment(sql, { chainId, sender })).length > 0,
    hasLane: async (chainId) => (await anySender(sql, { chainId })).length > 0,
    async broadcastBelow(chainId, sender) {
      const [row] = await broadcastBelow(sql, { chainId, sender });
      return row?.below ?? 0;
    },
    async allocatedNonces(chainId, sender, from, to) {
      const rows = await allocatedNonces(sql, { chainId, sender, from, to });
      return new Set(rows.map(({ nonce }) => nonce));
    },
    async nonceUsers(chainId, sender, from, to) {
      const rows = await usersOf(sql, { chainId, sender, from, to });
      return new Map(rows.map(({ nonce, txHash, pays }) => [nonce, { txHash, pays: pays ?? undefined }]));
    },
    async lostPayment(chainId, pays, ofSenders, orderId) {
      const key = ofSenders.join(" ");
      const read = lostPaymentReaders.get(key) ?? lostPaymentReader(sql, ofSenders);
      lostPaymentReaders.set(key, read);
      return await read({ chainId, pays, orderId });
    },
    lostPaymentOfOrder: async (orderId, ofSenders) =>
      (await lostPaymentOfOrder(sql, { orderId, senders: ofSenders }))[0],
    async reserved() {
      const byChain = new Map<number, Map<Address, bigint>>();
      for (const { chainId, outflowCurrency, amount } of await reserved(sql, {}))
        byChain.set(chainId, (byChain.get(chainId) ?? new Map()).set(outflowCurrency, amount));
      return byChain;
    },
  };
}

function lostPaymentReader(
  sql: Sql,
  senders: readonly Address[],
): (payment: Payment) => Promise<TxHash | undefined> {
  return tickBatcher(async (payments: readonly Payment[]) => {
    const rows = await lostPayments(sql, {
      chainIds: payments.map(({ chainId }) => chainId),
      pays: payments.map(({ pays }) => pays),
      orderIds: payments.map(({ orderId }) => orderId ?? null),
      senders,
    });
    const txHashes = new Map(rows.map(({ n, txHash }) => [n, txHash]));
    return payments.map((_, index) => txHashes.get(index + 1));
  }, READS_TOGETHER);
}

function slotsIn(rows: ReadonlyArray<{ slot: SlotRow; attempt: AttemptRow | null }>): Slot[] {
  return [...Map.groupBy(rows, ({ slot }) => slot.id).values()].flatMap((ofSlot) => {
    const [first] = ofSlot;
    return first === undefined
      ? []
      : slotOf(
          first.slot,
          ofSlot.flatMap(({ attempt }) => attempt ?? []),
        );
  });
}
