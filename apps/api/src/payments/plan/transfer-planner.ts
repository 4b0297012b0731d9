import type { TransferChain } from "../../chains/chains.port.ts";
import { planTransfer } from "../payment-plan.ts";
import { refusedCombination } from "./combinations.ts";
import { refused, waits } from "./fill-planned.ts";
import type { FillPlanner } from "./fill-planned.ts";

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
      const excluded = refusedCombination("transfers", parts);
      if (excluded !== undefined) return excluded;
      const planned = await planTransfer(connected, payment);
      if (planned.kind === "insufficientFunds") return waits(planned.why);
      return planned.kind === "ready" ? planned : refused("DESTINATION_TOKEN_TRANSFER_REJECTED", planned.why);
    },
  };
}
