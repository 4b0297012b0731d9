import type { Hex, Hex32, OrderId } from "@causeway/domain";
import { orderDigest, orderDomain, orderTypes } from "@causeway/domain";
import type { QuoteAnswer } from "@causeway/wire";

export interface OrderSigners {
  /** The solver's personal signature (EIP-191) over the raw bytes of an order id. */
  signOrder(orderId: OrderId): Promise<Hex>;
  /** The solver's signature of a digest, 65 bytes. */
  signDigest(digest: Hex32): Promise<Hex>;
}

/** The solver's signatures of an order: one that oracles verify, and one in EIP-712 form for anyone. */
export async function signedOrder(
  { signOrder, signDigest }: OrderSigners,
  orderId: OrderId,
): Promise<Pick<QuoteAnswer["protocol"]["v2"], "orderSignature" | "orderTypedSignature">> {
  const [orderSignature, signature] = await Promise.all([
    signOrder(orderId),
    signDigest(orderDigest(orderId)),
  ]);
  return {
    orderSignature,
    orderTypedSignature: { domain: orderDomain, primaryType: "Order", types: orderTypes, signature },
  };
}
