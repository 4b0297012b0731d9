import type {
  Address,
  DepositId,
  FailReason,
  Hex,
  OrderId,
  RefundFailReason,
  RequestId,
  TxHash,
} from "@causeway/domain";
import { and, asc, eq, sql as text, type SQL } from "drizzle-orm";
import type { DepositDisposition, DepositRecord, RefundState } from "../db/records.port.ts";
import type { DepositSighting, DepositWrites, ServiceTransaction } from "../db/unit-of-work.port.ts";
import {
  columnsOf,
  defineQuery,
  defineSql,
  nameOf,
  namesOf,
  nullable,
  type Params,
  defineWrite,
  defineSqlWrite,
} from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { attempts, slots } from "../payments/payments.tables.ts";
import { updateBlocks } from "../requests/history/history-writes.postgres.ts";
import { requests } from "../requests/requests.tables.ts";
import { DEPOSIT, depositOf } from "./deposit-rows.postgres.ts";
import { depositSweeps as sweeps } from "./addresses/deposit-addresses.tables.ts";
import { deposits } from "./deposits.tables.ts";

/** Identifying columns of deposits, one array each, so that thousands of deposits take one statement. */
interface Sighted extends Record<string, unknown> {
  readonly chainId: number;
  readonly txHashes: readonly TxHash[];
  readonly ordinals: readonly number[];
  readonly currencies: readonly Address[];
  readonly amounts: readonly bigint[];
  readonly depositors: readonly Address[];
  readonly senders: readonly Address[];
  readonly orderIds: readonly (OrderId | null)[];
}
const SIGHTED = namesOf(
  deposits.txHash,
  deposits.ordinal,
  deposits.currency,
  deposits.amount,
  deposits.depositor,
  deposits.sender,
  deposits.orderId,
);
/** The arrays of {@link SIGHTED}, for `unnest`. */
const sightedArrays = (p: Params<Sighted>): SQL => text`${p.txHashes}::text[], ${p.ordinals}::integer[],
  ${p.currencies}::text[], ${p.amounts}::numeric[], ${p.depositors}::text[], ${p.senders}::text[], ${p.orderIds}::text[]`;

function sightedColumns(chainId: number, sightings: readonly DepositSighting[]): Sighted {
  return {
    chainId,
    txHashes: sightings.map(({ txHash }) => txHash),
    ordinals: sightings.map(({ ordinal }) => ordinal),
    currencies: sightings.map(({ currency }) => currency),
    amounts: sightings.map(({ amount }) => amount),
    depositors: sightings.map(({ depositor }) => depositor),
    senders: sightings.map(({ sender }) => sender),
    orderIds: sightings.map(({ orderId }) => orderId ?? null),
  };
}

interface Unrecorded extends Sighted {
  readonly blockHashes: readonly Hex[];
  readonly unattestable: readonly boolean[];
  readonly unknown: readonly boolean[];
}
// Skips a deposit stored as canonical in the same block, unless its attestability is better known now.
const unrecorded = defineSql(
  "deposits_unrecorded",
  { n: Number },
  (p: Params<Unrecorded>) => text`
    select s.n from unnest(${sightedArrays(p)}, ${p.blockHashes}::text[], ${p.unattestable}::boolean[], ${p.unknown}::boolean[])
      with ordinality as s (${SIGHTED}, block_hash, unattestable, unknown, n)
    where not exists (
      select from ${deposits} where ${deposits.chainId} = ${p.chainId} and ${deposits.txHash} = s.tx_hash
        and ${deposits.currency} = s.currency and ${deposits.amount} = s.amount and ${deposits.depositor} = s.depositor
        and ${deposits.sender} = s.sender and coalesce(${deposits.orderId}, '') = coalesce(s.order_id, '')
        and ${deposits.ordinal} = s.ordinal and ${deposits.canonical} and ${deposits.blockHash} = s.block_hash
        and (${deposits.unattestable} = s.unattestable or s.unknown))
    order by s.n`,
);

interface Recorded extends Sighted {
  readonly blockNumbers: readonly bigint[];
  readonly blockHashes: readonly Hex[];
  readonly confirmAtBlocks: readonly bigint[];
  readonly requestIds: readonly (RequestId | null)[];
  readonly seenAtMs: readonly number[];
  readonly valuesUsd: readonly bigint[];
  readonly depositories: readonly (Hex | null)[];
  readonly unattestable: readonly boolean[];
}
const RECORDED = namesOf(
  deposits.blockNumber,
  deposits.blockHash,
  deposits.confirmAtBlock,
  deposits.requestId,
  deposits.seenAtMs,
  deposits.valueUsd,
  deposits.depository,
  deposits.unattestable,
);
const record = defineSql("deposits_record", DEPOSIT, (p: Params<Recorded>) => {
  const { chainId, txHash, currency, amount, depositor, sender, orderId, ordinal } = deposits;
  const { canonical, blockNumber, blockHash, confirmAtBlock, unattestable, disposition } = deposits;
  return text`
    with recorded as (
    insert into ${deposits} (${nameOf(chainId)}, ${SIGHTED}, ${RECORDED}, ${namesOf(canonical, disposition)})
    select ${p.chainId}::bigint, ${SIGHTED}, ${RECORDED}, true, 'unattributed'
    from unnest(${sightedArrays(p)}, ${p.blockNumbers}::bigint[], ${p.blockHashes}::text[], ${p.confirmAtBlocks}::bigint[],
        ${p.requestIds}::text[], ${p.seenAtMs}::bigint[], ${p.valuesUsd}::numeric[], ${p.depositories}::text[],
        ${p.unattestable}::boolean[])
      with ordinality as s (${SIGHTED}, ${RECORDED}, n)
    order by s.n
    on conflict (${namesOf(chainId, txHash, currency, amount, depositor, sender)}, coalesce(${nameOf(orderId)}, ''), ${nameOf(ordinal)})
    do update set ${nameOf(canonical)} = true, ${nameOf(blockNumber)} = excluded.${nameOf(blockNumber)},
      ${nameOf(blockHash)} = excluded.${nameOf(blockHash)}, ${nameOf(confirmAtBlock)} = excluded.${nameOf(confirmAtBlock)},
      ${nameOf(unattestable)} = excluded.${nameOf(unattestable)}
    where not ${canonical} or ${blockHash} <> excluded.${nameOf(blockHash)} or ${unattestable} <> excluded.${nameOf(unattestable)}
    returning ${columnsOf(DEPOSIT)}),
    ${updateBlocks(text`recorded`)}
    select * from recorded`;
});

// Stored like an abandoned refund: not planned, and judged again if a reorg orphans the deposit.
const keepTooSmall = defineSqlWrite(
  "deposits_keep_too_small",
  (
    p: Params<{ ids: readonly DepositId[]; reasons: readonly FailReason[]; onlyUnattributed: boolean }>,
  ) => text`
    update ${deposits} set ${nameOf(deposits.disposition)} = 'refund', ${nameOf(deposits.reason)} = s.reason,
      ${nameOf(deposits.refundState)} = 'impossible', ${nameOf(deposits.refundFailReason)} = 'AMOUNT_TOO_LOW_TO_REFUND'
    from unnest(${p.ids}::bigint[], ${p.reasons}::text[]) as s (id, reason)
    where ${deposits.id} = s.id and ${deposits.refundState} = 'none' and ${deposits.refundReleasedAtMs} is null
      and (not ${p.onlyUnattributed}::boolean or (${deposits.disposition} = 'unattributed' and ${deposits.requestId} is null))`,
);
const valueAbove = defineSql(
  "deposit_value_above",
  { usd: BigInt },
  (p: Params<{ chainId: number; blockNumber: bigint }>) => text`
    select coalesce(sum(${deposits.valueUsd}), 0) as usd from ${deposits}
    where ${deposits.chainId} = ${p.chainId} and ${deposits.blockNumber} > ${p.blockNumber}
      and ${deposits.canonical} and ${deposits.disposition} = 'accepted'`,
);

const lockAll = defineQuery("deposit_lock", (db, { ids }: Params<{ ids: readonly DepositId[] }>) =>
  db
    .select(DEPOSIT)
    .from(deposits)
    .where(text`${deposits.id} = any(${ids}::bigint[])`)
    .orderBy(asc(deposits.id))
    .for("update"),
);
// The hash of an attempt is unique.
const sentByService = defineSql(
  "deposits_sent_by_service",
  { requestId: sweeps.requestId, txHash: attempts.txHash, sweptSinceMs: nullable(Number) },
  (p: Params<{ requestIds: readonly RequestId[]; txHashes: readonly TxHash[] }>) => text`
    select s.request_id, s.tx_hash, coalesce(${sweeps.arrivedAtMs}, ${sweeps.createdAtMs}) as swept_since_ms
    from unnest(${p.requestIds}::text[], ${p.txHashes}::text[]) as s (request_id, tx_hash)
      join ${attempts} on ${attempts.txHash} = s.tx_hash
      join ${slots} on ${slots.id} = ${attempts.slotId}
      left join ${sweeps} on ${slots.legKind} = 'sweep' and ${sweeps.id}::text = ${slots.legId} and ${sweeps.requestId} = s.request_id
    where ${sweeps.id} is not null or (${slots.legKind} = 'execution' and ${slots.legId} = s.request_id)`,
);
const setDispositions = defineSqlWrite(
  "deposit_set_disposition",
  (
    p: Params<{
      ids: readonly DepositId[];
      dispositions: readonly DepositDisposition[];
      reasons: readonly (FailReason | null)[];
      requestIds: readonly (RequestId | null)[];
    }>,
  ) => text`
    update ${deposits} set ${nameOf(deposits.disposition)} = s.disposition, ${nameOf(deposits.reason)} = s.reason,
      ${nameOf(deposits.requestId)} = coalesce(s.request_id, ${deposits.requestId}),
      ${nameOf(deposits.refundReleasedAtMs)} = case when s.disposition not in ('accepted', 'unattributed') then ${deposits.refundReleasedAtMs} end
    from unnest(${p.ids}::bigint[], ${p.dispositions}::text[], ${p.reasons}::text[], ${p.requestIds}::text[])
      as s (id, disposition, reason, request_id)
    where ${deposits.id} = s.id and ${deposits.id} = any(${p.ids}::bigint[])`,
);
const assignRequest = defineWrite(
  "deposit_place",
  (db, p: Params<{ id: DepositId; requestId: RequestId; valueUsd: bigint }>) =>
    db.update(deposits).set({ requestId: p.requestId, valueUsd: p.valueUsd }).where(eq(deposits.id, p.id)),
);
const setRefund = defineWrite(
  "deposit_set_refund",
  (db, p: Params<{ id: DepositId; state: RefundState; failReason: RefundFailReason | null }>) => {
    const isMade = text`${p.state}::text not in ('none', 'impossible')`;
    return db
      .update(deposits)
      .set({
        refundState: p.state,
        refundFailReason: p.failReason,
        refundWaits: null,
        unrepaidUsd: text`case when ${isMade} then ${deposits.unrepaidUsd} end`,
        unrepaidAtMs: text`case when ${isMade} then ${deposits.unrepaidAtMs} end`,
        unrepaidReason: text`case when ${isMade} then ${deposits.unrepaidReason} end`,
      })
      .where(eq(deposits.id, p.id));
  },
);
const lockUnrepaid = defineSqlWrite(
  "deposit_lock_unrepaid",
  () => text`select pg_advisory_xact_lock(hashtextextended('causeway:unrepaid refunds', 0))`,
);
const unrepaidSince = defineSql(
  "deposit_unrepaid_since",
  { usd: BigInt, unattributedUsd: BigInt },
  ({ sinceMs }: Params<{ sinceMs: number }>) => text`
    select coalesce(sum(${deposits.unrepaidUsd}), 0) as usd,
      coalesce(sum(${deposits.unrepaidUsd}) filter (where ${deposits.requestId} is null), 0) as unattributed_usd
    from ${deposits} where ${deposits.unrepaidAtMs} > ${sinceMs}`,
);
const setUnrepaid = defineWrite(
  "deposit_set_unrepaid",
  (db, p: Params<{ id: DepositId; usd: bigint; reason: string; atMs: number }>) =>
    db
      .update(deposits)
      .set({ unrepaidUsd: p.usd, unrepaidReason: p.reason, unrepaidAtMs: p.atMs })
      .where(eq(deposits.id, p.id)),
);
const recordRefundWait = defineQuery(
  "deposit_note_refund_waits",
  (db, p: Params<{ id: DepositId; reason: string }>) =>
    db
      .update(deposits)
      .set({ refundWaits: p.reason })
      .where(and(eq(deposits.id, p.id), text`${deposits.refundWaits} is null`))
      .returning({ id: deposits.id }),
);
const releaseRefund = defineWrite(
  "deposit_release_refund",
  (db, p: Params<{ id: DepositId; atMs: number }>) =>
    db
      .update(deposits)
      .set({ refundState: "none", refundFailReason: null, refundWaits: null, refundReleasedAtMs: p.atMs })
      .where(eq(deposits.id, p.id)),
);

interface RefundedDeposit extends Record<string, unknown> {
  readonly chainId: number;
  readonly depositor: Address;
  readonly currency: Address;
}
const isRefundedAndOrphaned = (p: Params<RefundedDeposit>): SQL => text`
  ${deposits.chainId} = ${p.chainId} and ${deposits.depositor} = ${p.depositor} and ${deposits.currency} = ${p.currency}
  and not ${deposits.canonical} and ${deposits.refundState} in ('sent', 'final')`;
const refundedAndOrphaned = defineSql(
  "deposit_refunded_and_orphaned",
  { id: deposits.id },
  (p: Params<RefundedDeposit & { readonly requestId: RequestId }>) => text`
    select ${deposits.id} from ${deposits} where ${deposits.requestId} = ${p.requestId} and ${isRefundedAndOrphaned(p)}
    order by ${deposits.id} limit 1`,
);
const refundedWithoutRequestAndOrphaned = defineSql(
  "deposit_unasked_refunded_and_orphaned",
  { id: deposits.id },
  (p: Params<RefundedDeposit & { readonly orderId: OrderId | null }>) => text`
    select ${deposits.id} from ${deposits} where ${deposits.requestId} is null and ${isRefundedAndOrphaned(p)}
      and ${deposits.orderId} is not distinct from ${p.orderId}
    order by ${deposits.id} limit 1`,
);

interface ReplacedRange extends Record<string, unknown> {
  readonly chainId: number;
  readonly aboveBlock: bigint;
  readonly upToBlock: bigint;
  readonly canonicalHashes: readonly Hex[];
}
const isOrphaned = (p: Params<ReplacedRange>): SQL => text`
  ${deposits.chainId} = ${p.chainId} and ${deposits.blockNumber} > ${p.aboveBlock} and ${deposits.blockNumber} <= ${p.upToBlock}
  and ${deposits.canonical} and ${deposits.blockHash} <> all(${p.canonicalHashes}::text[])`;
const isImpossible = text`${deposits.refundState} = 'impossible'`;
// A release applies only to this deposit: one that returns after a reorg is judged again.
const removeOrphaned = defineQuery("deposit_remove_orphaned", (db, p: Params<ReplacedRange>) =>
  db
    .update(deposits)
    .set({
      canonical: false,
      refundReleasedAtMs: text`case when ${deposits.refundState} in ('sent', 'final') then ${deposits.refundReleasedAtMs} end`,
      refundFailReason: text`case when not ${isImpossible} then ${deposits.refundFailReason} end`,
      refundWaits: text`case when not ${isImpossible} then ${deposits.refundWaits} end`,
      refundState: text`case when ${isImpossible} then 'none' else ${deposits.refundState} end`,
    })
    .where(isOrphaned(p))
    .returning(DEPOSIT),
);
const orphaned = defineQuery("deposits_orphaned", (db, p: Params<ReplacedRange>) =>
  db
    .select(DEPOSIT)
    .from(deposits)
    .where(text`${isOrphaned(p)} and ${deposits.requestId} is not null and not ${isImpossible}`),
);

// A union, because each branch has its own index.
const dueConfirmed = defineSql(
  "deposit_due_confirmed",
  DEPOSIT,
  (p: Params<{ chainId: number; headNumber: bigint }>) => text`
    select ${columnsOf(DEPOSIT)} from (
      select ${requests.requestId}, ${requests.depositId} from ${requests}
      where ${requests.state} = 'deposited' and ${requests.originChainId} = ${p.chainId}
      union
      select ${requests.requestId}, ${requests.depositId} from ${requests}
      where ${requests.front} in ('held', 'debited') and ${requests.depositId} is not null and ${requests.originChainId} = ${p.chainId}
    ) as ${requests} join ${deposits} on ${deposits.id} = ${requests.depositId}
    where ${deposits.canonical} and ${deposits.disposition} = 'accepted' and ${deposits.confirmAtBlock} <= ${p.headNumber}
    order by ${requests.requestId}`,
);
interface ByRequest extends Record<string, unknown> {
  readonly requestId: RequestId;
  readonly chainId: number;
}
const isUnrefunded = (p: Params<ByRequest>): SQL => text`
  ${deposits.requestId} = ${p.requestId} and ${deposits.chainId} = ${p.chainId} and ${deposits.canonical}
  and ${deposits.refundState} = 'none'`;
const refundsDue = defineQuery("deposit_refunds_due", (db, p: Params<ByRequest>) =>
  db
    .select(DEPOSIT)
    .from(deposits)
    .where(text`${isUnrefunded(p)} and ${deposits.disposition} = 'refund'`)
    .orderBy(asc(deposits.id))
    .for("update"),
);
const unattestableOf = defineQuery("deposits_set_aside", (db, p: Params<ByRequest>) =>
  db
    .select(DEPOSIT)
    .from(deposits)
    .where(text`${isUnrefunded(p)} and ${deposits.disposition} = 'unattributed' and ${deposits.unattestable}`)
    .orderBy(asc(deposits.id))
    .for("update"),
);

/** Deposits inside one transaction. */
export function depositWrites(sql: Sql): DepositWrites {
  return {
    unrecorded: (chainId, sightings) => findUnrecorded(sql, chainId, sightings),
    async record(chainId, sighted) {
      const rows = await record(sql, {
        ...sightedColumns(chainId, sighted),
        blockNumbers: sighted.map(({ blockNumber }) => blockNumber),
        blockHashes: sighted.map(({ blockHash }) => blockHash),
        confirmAtBlocks: sighted.map(({ confirmAtBlock }) => confirmAtBlock),
        requestIds: sighted.map(({ requestId }) => requestId ?? null),
        seenAtMs: sighted.map(({ seenAtMs }) => seenAtMs),
        valuesUsd: sighted.map(({ valueUsd }) => valueUsd),
        depositories: sighted.map(({ depository }) => depository ?? null),
        unattestable: sighted.map(({ isUnattestable }) => isUnattestable === true),
      });
      return rows.map(depositOf);
    },
    async keepTooSmall(small, onlyUnattributed = false): Promise<void> {
      const [ids, reasons] = [small.map(({ id }) => id), small.map(({ reason }) => reason)];
      await keepTooSmall(sql, { ids, reasons, onlyUnattributed });
    },
    async valueAbove(chainId, blockNumber): Promise<bigint> {
      return (await valueAbove(sql, { chainId, blockNumber }))[0]?.usd ?? 0n;
    },
    async lock(id): Promise<DepositRecord | undefined> {
      const [row] = await lockAll(sql, { ids: [id] });
      return row && depositOf(row);
    },
    async lockAll(ids): Promise<Map<DepositId, DepositRecord>> {
      const rows = await lockAll(sql, { ids });
      return new Map(rows.map(depositOf).map((deposit) => [deposit.id, deposit]));
    },
    async sentByService(transactions): Promise<ServiceTransaction[]> {
      const rows = await sentByService(sql, {
        requestIds: transactions.map(({ requestId }) => requestId),
        txHashes: transactions.map(({ txHash }) => txHash),
      });
      return rows.map(({ sweptSinceMs, ...sent }) => ({ ...sent, sweptSinceMs: sweptSinceMs ?? undefined }));
    },
    async setDispositions(disposed): Promise<void> {
      if (disposed.length === 0) return;
      await setDispositions(sql, {
        ids: disposed.map(({ id }) => id),
        dispositions: disposed.map(({ disposition }) => disposition),
        reasons: disposed.map(({ reason }) => reason ?? null),
        requestIds: disposed.map(({ requestId }) => requestId ?? null),
      });
    },
    async assignRequest(id, requestId, valueUsd): Promise<void> {
      await assignRequest(sql, { id, requestId, valueUsd });
    },
    async setRefund(id, state, failReason): Promise<void> {
      await setRefund(sql, { id, state, failReason: failReason ?? null });
    },
    async lockUnrepaid(sinceMs): Promise<{ usd: bigint; unattributedUsd: bigint }> {
      await lockUnrepaid(sql, {});
      return (await unrepaidSince(sql, { sinceMs }))[0] ?? { usd: 0n, unattributedUsd: 0n };
    },
    async setUnrepaid(id, { usd, reason }, atMs): Promise<void> {
      await setUnrepaid(sql, { id, usd, reason, atMs });
    },
    async refundedAndOrphaned(deposit): Promise<DepositId | undefined> {
      const { requestId, chainId, depositor, currency, orderId } = deposit;
      const [row] =
        requestId === undefined
          ? await refundedWithoutRequestAndOrphaned(sql, {
              chainId,
              depositor,
              currency,
              orderId: orderId ?? null,
            })
          : await refundedAndOrphaned(sql, { chainId, depositor, currency, requestId });
      return row && String(row.id);
    },
    async releaseRefund(id, atMs): Promise<void> {
      await releaseRefund(sql, { id, atMs });
    },
    async recordRefundWait(id, reason): Promise<boolean> {
      return (await recordRefundWait(sql, { id, reason })).length > 0;
    },
    async removeOrphaned(chainId, aboveBlock, upToBlock, canonicalHashes): Promise<DepositRecord[]> {
      const rows = await removeOrphaned(sql, { chainId, aboveBlock, upToBlock, canonicalHashes });
      return rows.map(depositOf);
    },
    async findOrphaned(chainId, aboveBlock, upToBlock, canonicalHashes): Promise<DepositRecord[]> {
      return (await orphaned(sql, { chainId, aboveBlock, upToBlock, canonicalHashes })).map(depositOf);
    },
    async refundsDue(requestId, chainId): Promise<DepositRecord[]> {
      return (await refundsDue(sql, { requestId, chainId })).map(depositOf);
    },
    async unattestableOf(requestId, chainId): Promise<DepositRecord[]> {
      return (await unattestableOf(sql, { requestId, chainId })).map(depositOf);
    },
    async dueConfirmed(chainId, headNumber): Promise<DepositRecord[]> {
      return (await dueConfirmed(sql, { chainId, headNumber })).map(depositOf);
    },
  };
}

/** Sightings that are not stored, or not as canonical in this block, in the given order. */
export async function findUnrecorded<Sighting extends DepositSighting>(
  sql: Sql,
  chainId: number,
  sightings: readonly Sighting[],
): Promise<Sighting[]> {
  const rows = await unrecorded(sql, {
    ...sightedColumns(chainId, sightings),
    blockHashes: sightings.map(({ blockHash }) => blockHash),
    unattestable: sightings.map(({ isUnattestable }) => isUnattestable === true),
    unknown: sightings.map(({ isAttestabilityUnknown }) => isAttestabilityUnknown === true),
  });
  const positions = new Set(rows.map(({ n }) => n - 1));
  return sightings.filter((_, index) => positions.has(index));
}
