import type { Services } from "../../db/services.port.ts";
import { burstGate } from "./burst-gate.ts";
import { groupedFills } from "../send-fills.ts";
import { groupedExecutions } from "./send-execution.ts";
import type { SendServices } from "../send-together.ts";

/**
 * A burst is held for less than the block time of most chains, and long enough to accept most of it before
 * the first execution is simulated again.
 */
const BURSTS = { atOnce: 6, withinMs: 100, heldMs: 300 };

/** How a worker groups what it sends on a lane, and paces executions. */
export function executionPace(
  services: SendServices & Pick<Services, "clock">,
): Required<Pick<Services, "sendFill" | "sendExecution" | "executionTurn">> {
  return {
    sendFill: groupedFills(services),
    sendExecution: groupedExecutions(services),
    executionTurn: burstGate(services.clock, BURSTS),
  };
}
