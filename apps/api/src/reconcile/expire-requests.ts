import { decide, expiresBefore, isClockPlausible, isUntouched } from "@causeway/domain";
import type { RequestEvent, RequestId, RequestState } from "@causeway/domain";
import type { DueOnChain } from "../deposits/due-on-chain.port.ts";
import type { Services } from "../db/services.port.ts";
import type { OverdueRequest, Tx } from "../db/unit-of-work.port.ts";
import { indexTransaction, recheckReports } from "../deposits/index.ts";
import { transition, type TransitionServices } from "../requests/index.ts";

const BATCH = 500;
/** Maximum batches of one chain per round: high enough that quotes expire faster than they are created. */
const MAX_BATCHES = 20;
const DEADLINE_PASSED: RequestEvent = { kind: "deadlinePassed" };

type Needs = Pick<Services, "events" | "reads" | "uow" | "enginePolicy"> &
  TransitionServices &
  Parameters<typeof indexTransaction>[0];

type Report = Parameters<typeof indexTransaction>[1];

/** Requests of one chain that may expire now. */
interface DueChain extends DueOnChain {
  /** Requests whose reported transactions were checked. */
  readonly checked: readonly RequestId[];
}

/**
 * Expires requests whose deadline passed without a deposit. Each chain has its own query, so a stalled or
 * failing chain does not delay others.
 * @returns how many expired
 */
export async function expireRequests(services: Needs): Promise<number> {
  const clock = { nowMs: services.clock.nowMs(), graceMs: services.enginePolicy.expiryGraceMs };
  const origins = (await services.reads.waitingOrigins()).map((origin) => ({
    ...origin,
    isConfigured: services.chains.profile(origin.chainId) !== undefined,
  }));
  // Requests from a chain that is not configured expire by our clock alone, so another chain must confirm
  // that the clock is right.
  const isClockTrusted =
    origins.every(({ isConfigured }) => isConfigured) ||
    isClockPlausible(clock.nowMs, await services.reads.newestBlocksMs());
  const { reads, events } = services;
  const recheckServices = {
    reads,
    events,
    index: async (report: Report) => await indexTransaction(services, report),
  };
  // Nodes are queried concurrently, the database one chain at a time, or expiry would use all connections.
  const dueOnChains = origins.map(
    async ({ chainId, newestBlockMs, isConfigured }): Promise<DueChain | undefined> => {
      if (!isConfigured && !isClockTrusted) return undefined;
      // A reported transaction may be in a block that the watcher missed or has not read yet: check it first.
      const reported = { chainId, deadlineBeforeMs: clock.nowMs - clock.graceMs };
      const checked = await runOrReport(
        services,
        reported,
        async () => await recheckReports(recheckServices, reported),
      );
      const deadlineBeforeMs = expiresBefore({ isConfigured, newestBlockMs }, clock);
      if (checked === undefined || deadlineBeforeMs === undefined) return undefined;
      return { chainId, deadlineBeforeMs, checked };
    },
  );
  let dueChains = (await Promise.all(dueOnChains)).filter((chain) => chain !== undefined);
  let expired = 0;
  // One batch per chain in turn, so that the backlog of one does not delay the others.
  for (let batch = 0; batch < MAX_BATCHES && dueChains.length > 0; batch++) {
    const full: DueChain[] = [];
    for (const chain of dueChains) {
      const ended = (await runOrReport(services, chain, async () => await expireBatch(services, chain))) ?? 0;
      expired += ended;
      if (ended === BATCH) full.push(chain);
    }
    dueChains = full;
  }
  return expired;
}

/** @returns undefined if `work` failed: the round then ends for this chain only */
async function runOrReport<T>(
  services: Needs,
  { chainId }: DueOnChain,
  work: () => Promise<T>,
  facts: { readonly requestId?: RequestId } = {},
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    services.events.fault("reconcile_fault", error, { part: "expiry", chainId, ...facts });
    return undefined;
  }
}

/** Untouched quotes, the large majority, expire together; requests with a history expire one by one. */
async function expireBatch(services: Needs, chain: DueChain): Promise<number> {
  const { ended, remaining } = await services.uow.run(async (tx) => {
    const overdue = await tx.requests.lockOverdue(chain, BATCH, chain.checked);
    const together = overdue.filter(({ state, hasReservedFees }) => isUntouched(state) && !hasReservedFees);
    const ids = await expireTogether(services, tx, together);
    return {
      ended: ids.size,
      remaining: overdue.filter(({ requestId }) => !ids.has(requestId)),
    };
  });
  let endedAlone = 0;
  for (const { requestId } of remaining)
    endedAlone +=
      (await runOrReport(services, chain, async () => await expireAlone(services, requestId), {
        requestId,
      })) ?? 0;
  return ended + endedAlone;
}

/**
 * Like `transition`, but for many requests in three statements. All requests are in the initial state of
 * their kind, so the state machine decides once per kind.
 * @returns the requests that expired
 */
async function expireTogether(
  { clock }: Needs,
  tx: Tx,
  untouched: readonly OverdueRequest[],
): Promise<ReadonlySet<RequestId>> {
  const atMs = clock.nowMs();
  const ended = new Set<RequestId>();
  for (const sameKind of Map.groupBy(untouched, ({ state }) => state.kind).values()) {
    const state: RequestState | undefined = sameKind[0]?.state;
    const decision = state && decide(state, DEADLINE_PASSED);
    if (state === undefined || decision?.kind !== "applied" || decision.effects.length > 0) continue;
    const requestIds = sameKind.map(({ requestId }) => requestId);
    const { next } = decision;
    await tx.requests.saveAll(
      requestIds.map((requestId) => ({ requestId, state: next })),
      atMs,
    );
    const detail = { from: state.name, to: next.name };
    await tx.requests.noteAll(
      requestIds.map((requestId) => ({ requestId, event: DEADLINE_PASSED.kind, detail })),
      atMs,
    );
    for (const requestId of requestIds) ended.add(requestId);
  }
  return ended;
}

async function expireAlone(services: Needs, requestId: RequestId): Promise<number> {
  return await services.uow.run(async (tx) => {
    const record = await tx.requests.lockWaiting(requestId);
    if (record === undefined) return 0;
    const { decision } = await transition(services, tx, record, DEADLINE_PASSED);
    return decision.kind === "applied" ? 1 : 0;
  });
}
