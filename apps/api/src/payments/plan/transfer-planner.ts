import type { TransferChain } from "../../chains/chains.port.ts";
import { planTransfer } from "../payment-plan.ts";
import { findRefusedCombination } from "./combinations.ts";
import { fillRefusal, fillWait } from "./fill-result.ts";
import type { FillPlanner } from "./fill-result.ts";

/** Plans fills on a chain that pays by transfers. */
export function transferPlanner(connected: TransferChain): FillPlanner {
  return {
    paysContract: async () => false,
    swapQuoter({ requestId, destination: { paidFrom } }) {
      if (paidFrom === undefined) return undefined;
      throw new Error(`invariant violated: fill of ${requestId} must swap but cannot`);
    },
    async plan({ terms, execution, payment }) {
      const { outputCalls: calls, gasTopup: topup } = terms;
      const { paidFrom: swap } = terms.destination;
      const parts = { swap, calls, execution: execution?.destination, topup };
      const excluded = findRefusedCombination("transfers", parts);
      if (excluded !== undefined) return excluded;
      const planned = await planTransfer(connected, payment);
      if (planned.kind === "insufficientFunds") return fillWait(planned.why);
      return planned.kind === "ready"
        ? planned
        : fillRefusal("DESTINATION_TOKEN_TRANSFER_REJECTED", planned.why);
    },
  };
}
