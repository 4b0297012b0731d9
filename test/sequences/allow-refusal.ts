import { ServiceError } from "@causeway/domain";
import { isCrash } from "../fakes/crashing-services.ts";
import type { Outcome } from "./action.ts";
import { isNodeFault } from "./node-trouble.ts";
import type { SequenceWorld } from "./world.ts";

/**
 * Runs `work`. Refusals by the service, faults of a troubled node, and crashes are outcomes. Any other error
 * fails the test.
 */
export async function allowRefusal(
  world: SequenceWorld,
  work: () => Promise<Outcome | void>,
): Promise<Outcome> {
  try {
    return (await work()) ?? "done";
  } catch (error) {
    if (isCrash(error)) {
      await world.recover();
      return "refused";
    }
    if (world.isTroubled() && isNodeFault(error)) return "refused";
    if (error instanceof ServiceError && !error.code.startsWith("UNKNOWN")) return "refused";
    throw error;
  }
}
