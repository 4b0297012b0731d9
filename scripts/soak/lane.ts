import type { RequestPlan, SoakCurrency } from "./mix.ts";
import { requestQuote, followStatus, pay, type RequestRun } from "./run-request.ts";
import type { World } from "./world.ts";

/**
 * Bridges of one currency in one direction, each by a different user: all their fills share one
 * lane.
 */
export function planLane(count: number, currency: SoakCurrency): RequestPlan[] {
  return Array.from({ length: count }, (_, index) => ({
    index,
    startAfterMs: 0,
    user: index,
    kind: "bridge",
    origin: 0,
    destination: 1,
    pay: currency,
    receive: currency,
    tradeType: "EXACT_INPUT",
    // 0.01 native tokens and a small extra amount: the smallest confirmation tier.
    amount: 10n ** 16n + BigInt(index) * 1_000_001n,
    explicitDeposit: true,
    receiver: "fresh",
    reports: false,
  }));
}

/** Pays all of them into one block of the origin, so that their fills become due at the same moment. */
export async function runLane(
  world: World,
  runs: readonly RequestRun[],
  deadline: AbortSignal,
): Promise<void> {
  const forEachRun = async (act: (run: RequestRun) => Promise<void>): Promise<void> => {
    await Promise.all(
      runs
        .filter(({ error }) => error === undefined)
        .map(async (run) => {
          await act(run).catch((error: unknown) => {
            run.error = String(error);
          });
        }),
    );
  };
  await forEachRun(async (run) => await requestQuote(world, run));
  await untilNextBlock(world);
  await forEachRun(async (run) => await pay(world, run, deadline));
  await forEachRun(async (run) => await followStatus(world, run, deadline));
}

/** Right after a block, the whole block time is left for sending. */
async function untilNextBlock({ chains: [origin] }: World): Promise<void> {
  const now = await origin.client.getBlockNumber({ cacheTime: 0 });
  while ((await origin.client.getBlockNumber({ cacheTime: 0 })) === now)
    await new Promise((resolve) => setTimeout(resolve, 20));
}
