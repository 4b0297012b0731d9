import type { RequestId } from "@causeway/domain";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";
import { isDeath, mortalServices } from "../fakes/mortal-services.ts";
import type { Agreed } from "./engine-world.ts";

/** The actions of a process between two moments that the test can observe. */
export interface Life<A extends { readonly requestId: RequestId } = Agreed> {
  /** Prepares the world before this process starts. */
  readonly prepare: () => Promise<A>;
  /** Runs the process until it dies or finishes. */
  readonly live: (by: WorkerServices, agreed: A) => Promise<void>;
  /**
   * Called after another process took over and the request is final; `moment` is where the first one died.
   */
  readonly verify: (agreed: A, moment: string) => Promise<void>;
}

/**
 * Repeats the same run for new requests, dying one moment later each time, until it completes. After each
 * death, other processes continue until the request is final.
 *
 * @returns the moments of death, in order
 */
export async function dieAtEveryMoment<A extends { readonly requestId: RequestId } = Agreed>(
  world: {
    readonly services: WorkerServices;
    readonly untilFinal: (requestId: RequestId) => Promise<unknown>;
  },
  life: Life<A>,
): Promise<readonly string[]> {
  const deaths: string[] = [];
  for (let dieAt = 0; ; dieAt++) {
    const agreed = await life.prepare();
    const mortal = mortalServices(world.services, dieAt);
    try {
      await life.live(mortal, agreed);
    } catch (error) {
      if (!mortal.isDead() || !isDeath(error)) throw error;
    }
    const moment = mortal.acts.at(-1) ?? "before anything";
    await world.untilFinal(agreed.requestId);
    await life.verify(agreed, moment);
    if (!mortal.isDead()) return deaths;
    deaths.push(moment);
  }
}
