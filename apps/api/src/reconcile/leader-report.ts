import type { ChainDirectory } from "../chains/chains.port.ts";
import { SETTLEMENT, watchOf, type LedTask, type WorkedAgo } from "../db/leadership.port.ts";
import type { LeaderReport } from "./readiness.ts";

export function ledTasks(
  { evmChains, nonEvmChains }: Pick<ChainDirectory, "evmChains" | "nonEvmChains">,
  hasSettlement: boolean,
): readonly LedTask[] {
  const chains = [...evmChains, ...nonEvmChains].map(({ chain }) => ({
    label: chain.name,
    lock: watchOf(chain.id),
  }));
  return hasSettlement ? [...chains, { label: SETTLEMENT, lock: SETTLEMENT }] : chains;
}

/** @param heldLocks returns those of the locks that any process holds */
export function leaderReport(
  tasks: readonly LedTask[],
  workedAgoMs: WorkedAgo,
  heldLocks: (locks: readonly string[]) => Promise<ReadonlySet<string>>,
): LeaderReport {
  return async () => {
    const held = await heldLocks(tasks.map(({ lock }) => lock));
    return Object.fromEntries(
      tasks.map(({ label, lock }) => {
        const agoMs = workedAgoMs(lock);
        if (agoMs !== undefined)
          return [label, { leader: "self" as const, workedSecondsAgo: Math.round(agoMs / 1000) }];
        return [label, { leader: held.has(lock) ? ("other" as const) : ("none" as const) }];
      }),
    );
  };
}
