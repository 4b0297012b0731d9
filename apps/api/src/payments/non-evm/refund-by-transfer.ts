import type { ConnectedPayingRail } from "../../chains/chains.port.ts";
import { transferFunds } from "../payers/covers.ts";
import type { RefundPayer } from "../refund-payer.port.ts";
import { slotPlanOf } from "./rail-payment.ts";

/** Refunds deposits on a non-EVM chain: they are final when recorded. */
export function refundsByTransfer(connected: ConnectedPayingRail): RefundPayer {
  const { chain, rail } = connected;
  return {
    chain,
    funds: transferFunds(connected),
    whyEarly: async () => undefined,
    async price({ deposit: { id, currency, orderId, requestId }, recipient }) {
      const cost = await rail.paymentCost(currency, recipient);
      return {
        kind: "priced",
        cost,
        broughtCost: 0n,
        router: undefined,
        async plan(amount, cancelAfterMs) {
          const why = await rail.refusalOf({ recipient, currency, amount });
          if (why !== undefined) return { kind: "refused", why };
          const leg = { kind: "refund", depositId: id, requestId } as const;
          const question = { leg, currency, amount, recipient, orderId, cancelAfterMs, cost };
          return { kind: "ready", plan: slotPlanOf(connected, question) };
        },
      };
    },
  };
}
