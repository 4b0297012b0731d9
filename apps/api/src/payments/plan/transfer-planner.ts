import type { ConnectedPayingRail } from "../../chains/chains.port.ts";
import { slotPlanOf } from "../non-evm/rail-payment.ts";
import { refusedCombination } from "./combinations.ts";
import { refused } from "./fill-planned.ts";
import type { FillPlanner } from "./fill-planned.ts";

/** Plans fills on a chain that pays by transfers. */
export function transferPlanner(connected: ConnectedPayingRail): FillPlanner {
  return {
    paysContract: async () => false,
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
