import type { ChainDirectory } from "../chains/chains.port.ts";
import type { Clock } from "../db/clock.port.ts";
import type { LedTask } from "../db/leadership.port.ts";
import type { OutboxDepth } from "../db/queue-depth.port.ts";
import type { OpenPayments } from "../payments/open-payments.port.ts";
import type { StateUnderWay } from "../requests/requests-under-way.port.ts";
import { ALERT_SECONDS } from "../telemetry/alert-durations.ts";
import type { Finding } from "./notices.port.ts";

/** A payment may wait this many block times to be mined: on Bitcoin, two hours. */
const MAX_WAIT_BLOCKS = 12;

/** Finds persistent conditions, and evidence that earlier ones have ended. */
export type Check = () => Promise<readonly Finding[]>;

interface WorkerReads {
  readonly chains: Pick<ChainDirectory, "evmChains" | "nonEvmChains">;
  readonly clock: Clock;
  /** Time since this process connected its chains, ms. */
  readonly uptimeMs: () => number;
  readonly openPayments: () => Promise<readonly OpenPayments[]>;
  readonly outbox: () => Promise<OutboxDepth>;
  readonly settling: () => Promise<readonly { readonly state: string; readonly oldestMs: number }[]>;
  readonly underWay: () => Promise<readonly StateUnderWay[]>;
}

/** The checks of a worker. */
export function workerChecks(reads: WorkerReads): readonly Check[] {
  const { chains, clock } = reads;
  const connected = [...chains.evmChains, ...chains.nonEvmChains];
  const since = (ms: number | undefined): number =>
    ms === undefined ? 0 : Math.max(0, (clock.nowMs() - ms) / 1_000);
  return [
    async () =>
      await Promise.resolve(
        connected.flatMap(({ chain, pulse }) => {
          const ageMs = pulse.headAgeMs();
          // A head that is younger than this process is evidence of a block. Before the first block, nothing
          // is known.
          const hasBlock = ageMs < reads.uptimeMs();
          const finding = findingForAge(
            "node_away",
            chain.name,
            ageMs / 1_000,
            ALERT_SECONDS.nodeUnreachable,
            `the node of ${chain.name} has had no new block`,
          );
          return finding.isOpen || hasBlock ? [finding] : [];
        }),
      ),
    async () => {
      const open = await reads.openPayments();
      return connected.map(({ chain }) => {
        const oldest = open
          .filter(({ chainId }) => chainId === chain.id)
          .map(({ oldestMs }) => since(oldestMs));
        const limit = Math.max(ALERT_SECONDS.paymentOldest, MAX_WAIT_BLOCKS * chain.blockTimeSeconds);
        return findingForAge(
          "lane_stuck",
          chain.name,
          Math.max(0, ...oldest),
          limit,
          `a payment on ${chain.name} has not been mined`,
        );
      });
    },
    async () => {
      const seconds = since((await reads.outbox()).oldestMs);
      return [
        findingForAge(
          "outbox_growing",
          "outbox",
          seconds,
          ALERT_SECONDS.outboxOldest,
          "a committed job has not reached Redis",
        ),
      ];
    },
    async () => {
      const rows = await reads.settling();
      const secondsOf = (state: string): number => since(rows.find((row) => row.state === state)?.oldestMs);
      return [
        findingForAge(
          "quorum_short",
          "due",
          secondsOf("due"),
          ALERT_SECONDS.settlementDue,
          "a payment has had no quorum of oracles",
        ),
        findingForAge(
          "hub_slow",
          "attested",
          secondsOf("attested"),
          ALERT_SECONDS.settlementAttested,
          "an attested payment has not been final on the hub",
          "warning",
        ),
      ];
    },
    async () =>
      (await reads.underWay()).map(({ state, oldestMs }) =>
        findingForAge(
          "request_stuck",
          state,
          since(oldestMs),
          ALERT_SECONDS.requestOldest,
          `a paid request has been ${state}`,
          "warning",
        ),
      ),
  ];
}

/** The checks of an API, because a worker cannot report that it is missing. */
export function workerPresence(
  tasks: readonly LedTask[],
  heldLocks: (locks: readonly string[]) => Promise<ReadonlySet<string>>,
  nowMs: () => number,
): Check {
  // By the monotonic clock of this process.
  const lastHeldMs = new Map<string, number>(tasks.map(({ lock }) => [lock, nowMs()]));
  return async () => {
    const held = await heldLocks(tasks.map(({ lock }) => lock));
    for (const lock of held) lastHeldMs.set(lock, nowMs());
    const seconds = tasks.map(({ lock }) => (nowMs() - (lastHeldMs.get(lock) ?? nowMs())) / 1_000);
    const isAlone = held.size === 0;
    const missing = findingForAge(
      "worker_missing",
      "worker",
      isAlone ? Math.min(...seconds) : 0,
      ALERT_SECONDS.notLed,
      "no worker has run",
    );
    // A lock that was free for only a short time proves nothing, for example right after the start.
    const isEvidence = ({ isOpen }: Finding, isHeld: boolean): boolean => isOpen || isHeld;
    return [
      ...(isEvidence(missing, !isAlone) ? [missing] : []),
      ...tasks.flatMap(({ label, lock }, index) => {
        if (isAlone) return [];
        const finding = findingForAge(
          "not_led",
          label,
          seconds[index] ?? 0,
          ALERT_SECONDS.notLed,
          `no worker has led ${label}`,
        );
        return isEvidence(finding, held.has(lock)) ? [finding] : [];
      }),
    ];
  };
}

function findingForAge(
  rule: string,
  subject: string,
  seconds: number,
  limit: number,
  what: string,
  severity: Finding["severity"] = "critical",
): Finding {
  const isOpen = seconds > limit;
  const text = isOpen ? `${rule}: ${what} for ${Math.round(seconds)} s` : `${rule}: resolved (${subject})`;
  return { rule, subject, severity, isOpen, text };
}
