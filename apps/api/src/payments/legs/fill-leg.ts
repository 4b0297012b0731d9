import { MAX_REVERTED_FILLS, ServiceError } from "@causeway/domain";
import type { FailReason, RequestId, StateName } from "@causeway/domain";
import type { DepositRecord, RequestRecord } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import { awaitTogether } from "../../db/await-together.ts";
import { DONE } from "../../db/wait.ts";
import type { Progress } from "../../db/wait.ts";
import { addExposures, findExceeded } from "../../markets/index.ts";
import { transition, transitionAll } from "../../requests/index.ts";
import { settleFillFees, trySettleFees } from "../settle-fill-fees.ts";
import { isBasisOf } from "../fill-basis.ts";
import {
  chargeCalls,
  measureRoutes,
  noteRevertedFill,
  noteRevertedFastFill,
  noteFastFillGas,
} from "../fill-costs.ts";
import {
  type FillLimits,
  fitLimits,
  limitsOf,
  type RefusedFill,
  refusedFill,
  reserveLimits,
} from "../fill-limits.ts";
import type { FillAhead, FillBasis } from "../planned-fill.port.ts";
import { attemptFacts } from "../slot-facts.ts";
import { decideFill, type FillEnd, giveUpFill, postpone, waitUntilExplained } from "../plan/decide-fill.ts";
import { valueOf } from "../plan/gas-of-calls.ts";
import { whyMaybePaid } from "../unexplained-nonces.ts";
import type { DueLeg, LegContext, LegKind, MinedLeg } from "./leg-kind.ts";
import type { WantedPayment } from "../wanted-payment.port.ts";

/** A request in these states may still become fillable. */
const BEFORE_FILL: ReadonlySet<StateName> = new Set<StateName>([
  "quoted",
  "accepted",
  "depositing",
  "deposited",
  "filling",
]);

const EXPOSURE_USED = refusedFill(
  "SLIPPAGE",
  "PRICE_EXPOSURE_USD_PER_MINUTE is used up for an asset of the fill",
);

interface DueFill extends DueLeg {
  readonly request: RequestRecord;
  readonly ahead?: FillAhead;
}

/** A simulated fill. */
export interface WantedFill extends WantedPayment {
  readonly requestId: RequestId;
  readonly basis: FillBasis;
  /** The amount that the recipient gets, in base units. */
  readonly amount: bigint;
  /** Undefined: it reserves nothing but a slot. */
  readonly limits: FillLimits | undefined;
}

/** The payment of a request's recipient, with a confirmed deposit or a fast fill. */
export const fillLeg: LegKind<DueFill, WantedFill, FillEnd, RefusedFill> = {
  name: "fill",
  queue: { name: "fill", id: "requestId", concurrency: 128, runsAtCommit: true },
  isTransfer: true,

  overdue: async ({ reads }, ...since) => await reads.overdueFills(...since),
  async read({ reads, fillsAhead }, id) {
    const requestId = id as RequestId;
    const ahead = await fillsAhead?.take(requestId);
    if (ahead !== undefined) {
      const { request } = ahead;
      return { request, chainId: request.terms.destination.chainId, ahead, isAssumed: true };
    }
    const request = await reads.request(requestId);
    if (request === undefined) return undefined;
    const { state, terms } = request;
    const { chainId } = terms.destination;
    if (state.name === "fillable") return { request, chainId };
    if (state.name === "filled" && state.final && terms.appFees !== undefined) return { request };
    const slot = state.name === "filling" ? await reads.slotOfLeg("fill", requestId) : undefined;
    return slot && { request, chainId, slot };
  },
  async plan(services, { request, ahead }) {
    const { requestId } = request.terms;
    if (request.state.name === "filled") return await creditLateFees(services, requestId);
    if (ahead !== undefined) services.planFaults.clear(requestId);
    const checkedAtMs = ahead?.checkedAtMs ?? performance.now();
    const decided = ahead?.planned ?? (await decideFill(services, request));
    if (!("basis" in decided)) return decided;
    const { basis, amount, plan, sharesCommits } = decided;
    const limits = limitsOf(services, request.terms, decided);
    const fill = { requestId, basis, amount, limits, plan: { ...plan, delivers: amount } };
    const isShared = sharesCommits === true && limits?.hasOnlyExposures !== false && basis.kind === "deposit";
    return isShared ? { ...fill, checkedAtMs } : fill;
  },

  // The next batch reserves its slots while this one is broadcast. More would wait for the lane's row.
  batching: {
    inFlight: 2,
    canBatch: ({ checkedAtMs }) => checkedAtMs !== undefined,
    locksOnlyRequests: true,
  },
  async lock(services, tx, fills, requests) {
    const stillDue = fills.map((fill) => {
      const request = requests.get(fill.requestId);
      return request && isBasisOf(fill.basis, request.state) ? { ...fill, request } : undefined;
    });
    const fits = await fitLimits(services, tx, stillDue);
    return await Promise.all(
      stillDue.map(async (fill, index) => {
        if (fill === undefined) return "moved";
        if (fits[index] !== true) return EXPOSURE_USED;
        const { request, limits } = fill;
        return (limits && (await reserveLimits(services, tx, request.terms, limits))) ?? "due";
      }),
    );
  },
  async reserved(services, tx, taken) {
    const exposures = taken.flatMap(({ wanted }) => wanted.limits?.exposures ?? []);
    if (findExceeded(services, exposures) !== undefined) return EXPOSURE_USED;
    for (const { slot, wanted } of taken) {
      const uncoveredUsd = wanted.limits?.burn.uncoveredUsd ?? 0n;
      if (uncoveredUsd > 0n) await tx.fillBurns.noteInProgress(slot.id, uncoveredUsd);
    }
    const [exceeded] = await awaitTogether([
      addExposures(services, tx, exposures),
      transitionAll(
        services,
        tx,
        taken.flatMap(({ wanted: { amount }, slot: { nonce }, request: record }) =>
          record === undefined
            ? []
            : { record, event: { kind: "fillPlanned" } as const, facts: { nonce, amount } },
        ),
      ),
    ]);
    if (exceeded !== undefined) return EXPOSURE_USED;
    for (const { wanted, slot } of taken)
      tx.events.happened("fill_planned", {
        requestId: wanted.requestId,
        chain: services.chains.profile(slot.chainId)?.name,
        amount: wanted.amount,
        fast: wanted.basis.kind === "fastFill",
        tookMs: slot.createdAtMs - wanted.basis.sinceMs,
      });
    return undefined;
  },
  async restored(services, tx, { plan, nonce }, record) {
    if (record === undefined) return "lost";
    const { name } = record.state;
    // The deposit is still to be read again, or the former payment still to be found dead again.
    if (BEFORE_FILL.has(name)) return "later";
    if (name !== "fillable") return "lost";
    await transition(services, tx, record, { kind: "fillPlanned" }, {}, { nonce, amount: plan.delivers });
    return "restored";
  },
  // The value of a sponsor's balance is unknown: permanently if the operator removed a currency that the
  // sponsor owes.
  refusalOf: (error) =>
    error instanceof ServiceError && error.code === "PRICE_FETCH_FAILED"
      ? refusedFill("SPONSOR_BALANCE_TOO_LOW", error.message)
      : undefined,
  async notReserved(services, { request }, refused) {
    if (refused === "late") {
      const why = "the checks of the fill are too old";
      services.events.alarm("fill_waits", { requestId: request.terms.requestId, why });
      return { waitMs: 1_000, why };
    }
    if (refused === "insufficientFunds")
      return await postpone(services, request, "the solver's inventory does not cover the fill");
    const { isFinal, reason, why } = refused;
    return isFinal === true ? giveUpFill(reason, why) : await postpone(services, request, why, reason);
  },

  async broadcast(services, tx, sent, { atMs, isId }) {
    const records = await tx.requests.lockAll(sent.flatMap(({ slot }) => slot.leg.requestId ?? []));
    const fills = sent.flatMap(({ slot, attempt }) => {
      const record = slot.leg.requestId && records.get(slot.leg.requestId);
      return record ? [{ slot, attempt, record }] : [];
    });
    const transitions = await transitionAll(
      services,
      tx,
      fills.map(({ slot: { nonce }, attempt: { txHash }, record }) => ({
        record,
        event: { kind: "fillBroadcast" },
        change: isId ? { txHashes: [txHash] } : {},
        facts: { txHash, nonce, broadcastAtMs: atMs },
      })),
    );
    for (const [index, { slot, attempt, record }] of fills.entries()) {
      if (transitions[index]?.decision.kind !== "applied" || record.state.front === "none") continue;
      const fastFill = await tx.fastFills.find(record.terms.requestId);
      if (fastFill === undefined) continue;
      const tookMs = atMs - fastFill.acceptedAtMs;
      tx.events.happened("fast_fill_broadcast", { ...attemptFacts(slot, attempt), tookMs });
    }
  },
  mined: async (leg) => await applyMinedFills(leg.services, leg.tx, [leg]),
  async orphaned({ services, tx, slot, record }) {
    if (record && slot.minedStatus === "success")
      await transition(services, tx, record, { kind: "fillUnmined" });
  },
  async final({ services, tx, slot, record }) {
    if (record) {
      if (record.state.front !== "none") await noteFastFillGas({ services, tx, slot, record });
      await transition(services, tx, record, { kind: "fillFinal" });
      await settleFillFees(services, tx, record);
    }
    await chargeCalls({ services, tx, slot, record }, ({ plainGas, calls }) => ({
      quotedGas: plainGas,
      valueWei: valueOf(calls),
    }));
  },
  async dead({ services, tx, slot, record }, reason) {
    // The quote's gas is refunded with the deposit, so the sponsor pays all of the gas; native tokens that
    // calls carried were returned.
    if (slot.minedStatus === "reverted" && reason === "TRANSACTION_REVERTED")
      await chargeCalls({ services, tx, slot, record }, () => ({ quotedGas: 0n, valueWei: 0n }));
    if (record === undefined) return;
    const { depositId } = record.state;
    const deposit = depositId === undefined ? undefined : await tx.deposits.lock(depositId);
    const isDepositOrphaned = deposit?.canonical === false;
    const change = isDepositOrphaned
      ? { txHashes: [], inTxHashes: record.inTxHashes.filter((hash) => hash !== deposit.txHash) }
      : { txHashes: [] };
    const burns = await noteRevertedFill({ services, tx, slot, record });
    const shouldReplan =
      !isDepositOrphaned &&
      burns < MAX_REVERTED_FILLS &&
      isWorthRetrying({ services, tx, slot, record }, deposit, reason);
    const hasReverted = slot.minedStatus === "reverted" && reason === "TRANSACTION_REVERTED";
    if (hasReverted && record.state.front !== "none")
      await noteRevertedFastFill({ services, tx, slot, record });
    await transition(
      services,
      tx,
      record,
      { kind: "fillDead", reason, isDepositOrphaned, shouldReplan },
      change,
      {
        reason,
      },
    );
  },
  // A request has at most one live fill, so no request is moved twice in a commit.
  batchedOutcomes: {
    mined: applyMinedFills,
    async final(services, tx, legs) {
      const event = { kind: "fillFinal" } as const;
      await transitionAll(
        services,
        tx,
        legs.flatMap(({ record }) => (record ? { record, event } : [])),
      );
    },
  },

  /** @throws RpcFault: it is unknown whether the recipient was paid, and nothing was given up */
  async giveUp(services, { request: { terms } }, { reason, detail }) {
    const { requestId } = terms;
    const maybePaid = await whyMaybePaid(services, terms.destination.chainId, terms);
    if (maybePaid !== undefined) return waitUntilExplained(services, requestId, maybePaid);
    await services.uow.run(async (tx) => {
      const record = await tx.requests.lock(requestId);
      if (record === undefined) return;
      const event = { kind: "fillImpossible", reason } as const;
      const { decision } = await transition(services, tx, record, event, {}, { reason, detail });
      // Another run may have reserved the fill in the meantime.
      if (decision.kind === "applied") tx.events.alarm("fill_impossible", { requestId, reason, detail });
    });
    return DONE;
  },
};

async function applyMinedFills(services: WorkerServices, tx: Tx, legs: readonly MinedLeg[]): Promise<void> {
  const fills = legs.flatMap(({ slot, record, attempt, receipt }) =>
    record !== undefined && receipt.status === "success" ? [{ slot, record, attempt, receipt }] : [],
  );
  const transitions = await transitionAll(
    services,
    tx,
    fills.map(({ record, attempt: { txHash }, receipt: { blockNumber, gasUsed } }) => ({
      record,
      event: { kind: "fillMined" },
      change: { txHashes: [txHash] },
      facts: { txHash, block: blockNumber, gasUsed },
    })),
  );
  // A fast fill does not measure how long the route takes.
  const measured = fills.filter(
    ({ record }, index) => transitions[index]?.decision.kind === "applied" && record.state.front === "none",
  );
  await measureRoutes(services, tx, measured);
}

/** Credits app fees of a fill that became final without a fresh price. */
async function creditLateFees(services: WorkerServices, requestId: RequestId): Promise<Progress> {
  const outcome = await services.uow.run(async (tx) => {
    const current = await tx.requests.lock(requestId);
    if (current?.state.final !== true) return "done";
    const settled = await trySettleFees(services, tx, current);
    if (settled === "done") await tx.ledger.clearFeesDue(requestId);
    return settled;
  });
  return outcome === "done" ? DONE : { waitMs: 5_000, why: "no fresh price for the app fees" };
}

/**
 * Whether to retry a reverted fill: a swap reverts when pools moved beyond its limit, and they may move back.
 * Not for long: each try costs gas, and the deposit waits.
 */
function isWorthRetrying(
  { services, slot, record }: LegContext,
  deposit: DepositRecord | undefined,
  reason: FailReason,
): boolean {
  if (record?.terms.destination.paidFrom === undefined || deposit === undefined) return false;
  // A reorg may have changed this since the fill started.
  if (deposit.isUnattestable === true) return false;
  // The revert may come from calls that the user chose: they use the solver's gas only once.
  if (record.terms.outputCalls !== undefined) return false;
  if (reason !== "TRANSACTION_REVERTED" || slot.minedStatus !== "reverted") return false;
  const nowMs = services.clock.nowMs();
  const waitedMs = nowMs - deposit.seenAtMs;
  return waitedMs <= services.enginePolicy.inventoryWaitMs && nowMs <= record.terms.fillDeadlineMs;
}
