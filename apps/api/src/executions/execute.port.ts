import type { RequestId, SimulationFailure } from "@causeway/domain";
import type { ExecuteAnswer } from "@causeway/wire";

/** How an execution was answered. What is refused for another reason than the simulation is thrown. */
export type ExecuteOutcome =
  | { readonly kind: "accepted"; readonly answer: ExecuteAnswer }
  /** The newest state says that it cannot succeed; nothing is remembered of it. */
  | { readonly kind: "reverts"; readonly requestId: RequestId; readonly failure: SimulationFailure };
