import type { RequestId } from "@causeway/domain";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import { isCrash, crashingServices } from "../fakes/crashing-services.ts";
import type { QuotedRequest } from "./engine-world.ts";

/** What a process does in a crash test, and what must be true afterwards. */
export interface CrashTest<A extends { readonly requestId: RequestId } = QuotedRequest> {
  /** Prepares the world before the process starts. */
  readonly prepare: () => Promise<A>;
  /** Runs the process until it crashes or finishes. */
  readonly run: (processServices: WorkerServices, quoted: A) => Promise<void>;
  /**
   * Checks the outcome after another process took over and the request is final. `moment` is where the first
   * process crashed.
   */
  readonly verify: (quoted: A, moment: string) => Promise<void>;
  /**
   * Moments at which the process must crash. Concurrent actions change places between runs, so crashes by
   * index may miss one: it is then picked by its name.
   */
  readonly moments?: readonly string[];
}

/**
 * Repeats the same run for new requests, and crashes it one step later each time, until a run completes.
 * After each crash, other processes continue until the request is final.
 * @returns the moments of the crashes, in order
 */
export async function crashAtEveryStep<A extends { readonly requestId: RequestId } = QuotedRequest>(
  world: {
    readonly services: WorkerServices;
    readonly untilFinal: (requestId: RequestId) => Promise<unknown>;
  },
  crashTest: CrashTest<A>,
): Promise<readonly string[]> {
  const crashes: string[] = [];
  const crashOnce = async (crashAt: Parameters<typeof crashingServices>[1]): Promise<boolean> => {
    const quoted = await crashTest.prepare();
    const crashing = crashingServices(world.services, crashAt);
    try {
      await crashTest.run(crashing, quoted);
    } catch (error) {
      if (!crashing.hasCrashed() || !isCrash(error)) throw error;
    }
    const moment = crashing.moments.at(-1) ?? "before anything";
    await world.untilFinal(quoted.requestId);
    await crashTest.verify(quoted, moment);
    if (crashing.hasCrashed()) crashes.push(moment);
    return crashing.hasCrashed();
  };
  for (let index = 0; await crashOnce(index); index++);
  for (const wanted of crashTest.moments ?? [])
    if (!crashes.includes(wanted)) await crashOnce((moment) => moment === wanted);
  return crashes;
}
