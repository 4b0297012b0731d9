import { z } from "zod";
import { orderData } from "../api/order.ts";
import { digits, hash32, hexData } from "../scalars.ts";

const signature = z.string().regex(/^0x[0-9a-f]{130}$/);

/** `POST /v1/orders` of the signer process. */
export const signOrderBody = z.object({
  order: orderData.describe("The whole order: the signer computes its id."),
});

export const signOrderAnswer = z.object({
  personal: signature.describe("EIP-191 over the 32 bytes of the order id."),
  typed: signature.describe("EIP-712 over the order."),
});

/** `POST /v1/requests` of the signer process. */
export const signRequestBody = z.object({
  layout: z.enum(["v1", "v2"]),
  facts: z.object({
    requestId: hash32,
    originChainId: z.int().nonnegative(),
    originUser: hexData,
    originCurrency: hexData,
    originAmount: digits,
    destinationChainId: z.int().nonnegative(),
    destinationUser: hexData,
    destinationCurrency: hexData,
  }),
});

export const signRequestAnswer = z.object({
  signature: signature.describe("EIP-191 over the 32 bytes of the hash of the facts."),
});

/** `POST /v1/transactions` of a signer process with signing rules. */
export const signTransactionBody = z.object({
  unsigned: hexData.describe("The serialized transaction without its signature: EIP-1559 or EIP-7702."),
});

export const signTransactionAnswer = z.object({ signature });
