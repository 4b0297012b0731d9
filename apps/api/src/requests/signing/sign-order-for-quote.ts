import type { Order } from "@causeway/domain";
import { orderDomain, orderTypes } from "@causeway/domain";
import type { QuoteAnswer } from "@causeway/wire";
import type { OrderSigner } from "./order-signer.port.ts";

/** The solver's signatures of an order: one that oracles verify, and one in EIP-712 form for anyone. */
export async function signOrderForQuote(
  { signOrder }: Pick<OrderSigner, "signOrder">,
  order: Order,
): Promise<Pick<QuoteAnswer["protocol"]["v2"], "orderSignature" | "orderTypedSignature">> {
  const { personal, typed } = await signOrder(order);
  return {
    orderSignature: personal,
    orderTypedSignature: {
      domain: orderDomain,
      primaryType: "Order",
      types: orderTypes,
      signature: typed,
    },
  };
}
