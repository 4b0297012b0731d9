import type { ConnectedPayingRail } from "../../chains/chains.port.ts";
import { slotPlanOf } from "../non-evm/rail-payment.ts";
import { transferFunds } from "../payers/covers.ts";
import { refusedCombination } from "./combinations.ts";
import { refused } from "./fill-planned.ts";
import type { FillPlanner } from "./fill-planned.ts";

/** Plans fills on a chain that pays by transfers. */
export function transferPlanner(connected: ConnectedPayingRail): FillPlanner {
  return {
    lane: { chain: connected.chain, funds: transferFunds(connected) },
    paysContract: async () => false,
    exchange({ requestId, destination: { paidFrom } }) {
      if (paidFrom === undefined) return undefined;
      throw new Error(`invariant violated: fill of ${requestId} must swap but cannot`);
    },
    async plan({ terms, execution, payment }) {
      const { outputCalls: calls, gasTopup: topup } = terms;
      const { paidFrom: swap } = terms.destination;
      const parts = { swap, calls, execution: execution?.destination, topup };
      const excluded = refusedCombination("transfers", parts);
      if (excluded !== undefined) return excluded;
      const [refusal, cost] = await Promise.all([
        connected.rail.refusalOf(payment),
        connected.rail.paymentCost(payment.currency, payment.recipient),
      ]);
      if (refusal !== undefined) return refused("DESTINATION_TOKEN_TRANSFER_REJECTED", refusal);
      return { kind: "ready", plan: slotPlanOf(connected, { ...payment, cost }) };
    },
  };
}
