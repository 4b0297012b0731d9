import { signatureToHex, signPersonalMessage, type Signer } from "@causeway/attest";
import {
  orderDigest,
  orderDomain,
  orderIdOf,
  orderTypes,
  requestAttestationHash,
  requestAttestationHashV2,
} from "@causeway/domain";
import type { OrderSigner } from "./order-signer.port.ts";

/** The hash of a request's facts that is signed, by layout. */
export const requestHashes = { v1: requestAttestationHash, v2: requestAttestationHashV2 };

/** Signs orders with the solver's key. */
export function keyOrderSigner(signer: Signer): OrderSigner {
  return {
    async signOrder(order) {
      const orderId = orderIdOf(order);
      const typedData = {
        domain: orderDomain,
        types: orderTypes,
        primaryType: "Order",
        message: { ...order },
      };
      const [personal, typed] = await Promise.all([
        signPersonalMessage(signer, orderId, order),
        signer.signDigest(orderDigest(orderId), { kind: "typedData", typedData }),
      ]);
      return { personal, typed: signatureToHex(typed) };
    },
    signRequest: async (layout, facts) => await signPersonalMessage(signer, requestHashes[layout](facts)),
  };
}
