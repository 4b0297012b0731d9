import { createChainDirectory } from "../chains/directory.adapter.ts";
import { withSolverKeys } from "../chains/non-evm-chains.wiring.ts";
import { workerSigners } from "../chains/signers.wiring.ts";
import type { WorkerConfig } from "../config/config.ts";
import { outboxDepth } from "../db/outbox-depth.postgres.ts";
import { redisMemory, startJobs, startLeaderLocks, startRelay } from "../db/db.wiring.ts";
import type { OutboxRelay } from "../db/outbox-relay.adapter.ts";
import { leaderReads } from "../deposits/leader-reads.postgres.ts";
import { workerChecks } from "../notices/checks.ts";
import { startNotices } from "../notices/notices.wiring.ts";
import { createFillsAhead, planAhead } from "../payments/fills-ahead.ts";
import { openPayments } from "../payments/open-payments.postgres.ts";
import { spentMemory } from "../payments/policy/spent-memory.ts";
import { groupedPayments } from "../payments/pay-together.ts";
import { holdOutdatedLanes } from "../payments/hold-outdated-lanes.ts";
import { startJournal } from "../payments/payments.wiring.ts";
import { startWebhooks } from "../push/push.wiring.ts";
import { startDepositAddresses } from "../quotes/deposit-addresses.wiring.ts";
import { ledTasks, leaderReport } from "../reconcile/leader-report.ts";
import { pruneHistory } from "../reconcile/prune-history.ts";
import { pruneByAge } from "../reconcile/prune-by-age.ts";
import type { LeaderReport } from "../reconcile/readiness.ts";
import { reconcileRequests } from "../reconcile/reconcile-requests.ts";
import { makePartitionsAhead } from "../requests/event-partitions.postgres.ts";
import { requestsUnderWay } from "../requests/requests-under-way.postgres.ts";
import { settlementReads } from "../settlement/settlement-reads.postgres.ts";
import { hubContractsOf, startSettlement } from "../settlement/settlement.wiring.ts";
import { depositoryGauge, hubGauge, workerGauges } from "../telemetry/worker-gauges.wiring.ts";
import { startWatchers } from "../watch/watch.wiring.ts";
import { catalog } from "./catalog.job.ts";
import { connectionsOf, logConnections } from "./connections.ts";
import type { Context } from "./context.ts";
import { repeating } from "./repeating.ts";

const PRUNE_EVERY_MS = 60_000;
/** Less often than other metrics: reading these balances costs calls to every chain. */
const BALANCES_EVERY_MS = 60_000;
const REDIS_MEMORY_EVERY_MS = 15_000;

/** The reported state of a running worker. */
export interface Work {
  /** Resolves when Redis has responded. */
  readonly ping: OutboxRelay["ping"];
  readonly leaders: LeaderReport;
}

/** Starts everything that the worker does: jobs, watchers, settlement, webhooks and periodic tasks. */
export async function startWorker(
  context: Context,
  { keys, spendingLimits }: Pick<WorkerConfig, "keys" | "spendingLimits">,
): Promise<Work> {
  const { config, log, pool, sql, clock, events, lifecycle, evmChains, nonEvmChains, serverLimits } = context;
  const connectedAtMs = performance.now();
  logConnections(log, connectionsOf("worker", config.database), serverLimits);
  const payingChains = await withSolverKeys(nonEvmChains, keys);
  const signing = {
    ...context,
    ...(await workerSigners(context, keys)),
    chains: createChainDirectory(evmChains, payingChains),
    slotsBeingSent: new Map<string, number>(),
    spendingLimits,
    spentMemory: spentMemory(),
    hubContracts: hubContractsOf(config.settlement),
    journal: await startJournal(context),
  };
  const fillsAhead = createFillsAhead();
  const paying = {
    ...signing,
    payTogether: groupedPayments(signing),
    fillsAhead,
    planAhead: planAhead({ ...signing, fillsAhead }),
  };

  const repeat = repeating(lifecycle, events);
  // At the start too: after a long stop the current month may have no partition.
  repeat("partitions", PRUNE_EVERY_MS, () => makePartitionsAhead(pool, clock.nowMs()), { atStart: true });

  const relay = await startRelay(context, catalog);
  await holdOutdatedLanes(paying);
  startJobs(paying, catalog);
  const { queuedLegs } = relay;
  const reconciling = { ...context, queuedLegs };
  const addresses = await startDepositAddresses(reconciling);
  const locks = startLeaderLocks(context);
  startWatchers(paying, locks.lead, addresses.watch, addresses.check);
  const settling = startSettlement(paying, locks.lead);
  const webhooks = startWebhooks(context);

  const { reconcileIntervalMs } = config.engine;
  repeat("reconciler", reconcileIntervalMs, () => reconcileRequests(reconciling));
  repeat("pruning", PRUNE_EVERY_MS, () => pruneHistory(context));
  repeat("pruning of webhooks", PRUNE_EVERY_MS, pruneByAge(context, webhooks.prune));
  repeat("depository balances", BALANCES_EVERY_MS, depositoryGauge(context));
  repeat("hub balances", BALANCES_EVERY_MS, hubGauge(context, settling));
  repeat("memory of Redis", REDIS_MEMORY_EVERY_MS, redisMemory(context, relay));

  const leaderTasks = ledTasks(context.chains, settling !== undefined);
  const { workedAgoMs } = locks;
  workerGauges(context, { relay, ledTasks: leaderTasks, workedAgoMs, settling });
  startNotices(
    context,
    workerChecks({
      chains: context.chains,
      clock,
      uptimeMs: () => performance.now() - connectedAtMs,
      openPayments: () => openPayments(sql),
      outbox: () => outboxDepth(sql),
      settling: () => settlementReads(sql).waiting(),
      underWay: () => requestsUnderWay(sql),
    }),
  );
  return { ping: () => relay.ping(), leaders: leaderReport(leaderTasks, workedAgoMs, leaderReads(sql)) };
}
