import { setTimeout as sleep } from "node:timers/promises";
import type { SystemProcess } from "@causeway/testkit";
import type { Random } from "./random.ts";

export interface KillOptions {
  readonly workers: readonly SystemProcess[];
  readonly times: number;
  /** Spread at random over this time. */
  readonly withinMs: number;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

/** Repeatedly kills a random worker, and restarts it after up to a second. */
export async function killWorkers(options: KillOptions): Promise<number> {
  const { workers, times, withinMs, random, signal, say } = options;
  const startedAtMs = Date.now();
  const moments = Array.from({ length: times }, () => random.int(500, withinMs)).toSorted((a, b) => a - b);
  const restarts = new Map<SystemProcess, Promise<void>>();
  let kills = 0;
  for (const moment of moments) {
    await sleep(Math.max(startedAtMs + moment - Date.now(), 0), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
    const victim = await untilOneIsUp(workers, restarts, random);
    victim.kill("SIGKILL");
    kills++;
    say(`${victim.name} killed (${kills} of ${times})`);
    const downMs = random.int(0, 1_000);
    restarts.set(
      victim,
      sleep(downMs).then(async () => {
        await victim.restart();
        restarts.delete(victim);
        say(`${victim.name} is up again`);
      }),
    );
  }
  await Promise.all(restarts.values());
  return kills;
}

async function untilOneIsUp(
  workers: readonly SystemProcess[],
  restarts: ReadonlyMap<SystemProcess, Promise<void>>,
  random: Random,
): Promise<SystemProcess> {
  for (;;) {
    const up = workers.filter((worker) => !restarts.has(worker) && worker.isRunning());
    if (up.length > 0) return random.pick(up);
    await Promise.race(restarts.values());
  }
}
