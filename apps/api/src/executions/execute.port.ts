import type { RequestId, SimulationFailure } from "@causeway/domain";
import type { ExecuteAnswer } from "@causeway/wire";

/** The outcome of an execution. Refusals for any other reason than a failed simulation are thrown. */
export type ExecuteOutcome =
  | { readonly kind: "accepted"; readonly answer: ExecuteAnswer }
  /** The simulation failed; nothing is stored. */
  | { readonly kind: "reverts"; readonly requestId: RequestId; readonly failure: SimulationFailure };
