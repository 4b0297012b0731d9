import { z } from "zod";
import { accountText, answerHash32, answerHex, digits, evmAddress } from "../scalars.ts";

const unixSeconds = z.int().nonnegative().describe("Unix seconds.");
const chainName = z.string().describe("Name of the chain: `protocol.v2.chainId` in `GET /chains`.");

/** The terms that the deposit refers to. Its EIP-712 struct hash is the `orderId`. */
export const orderData = z
  .object({
    version: z.string(),
    solverChainId: chainName,
    solver: evmAddress,
    salt: answerHash32,
    inputs: z.array(
      z.object({
        payment: z.object({ chainId: chainName, currency: accountText, amount: digits, weight: digits }),
        refunds: z.array(
          z.object({
            chainId: chainName,
            recipient: accountText,
            currency: accountText,
            minimumAmount: digits,
            deadline: unixSeconds,
            extraData: answerHex,
          }),
        ),
      }),
    ),
    output: z.object({
      chainId: chainName,
      payments: z.array(
        z.object({
          recipient: accountText,
          currency: accountText,
          minimumAmount: digits,
          expectedAmount: digits,
        }),
      ),
      calls: z.array(answerHex),
      deadline: unixSeconds,
      extraData: answerHex,
    }),
    fees: z.array(
      z.object({
        recipientChainId: chainName,
        recipient: accountText,
        currencyChainId: chainName,
        currency: accountText,
        amount: digits,
      }),
    ),
  })
  .meta({ id: "OrderData" });

export const protocolV2 = z
  .object({
    orderId: answerHash32.describe("On-chain id of the deposit. It differs from the request id."),
    hubType: z.literal("onchain"),
    orderData,
    orderSignature: answerHex
      .optional()
      .describe("The solver's EIP-191 signature over the raw bytes of `orderId`. Oracles verify it."),
    orderTypedSignature: z
      .object({
        domain: z.object({ name: z.string(), version: z.string() }),
        primaryType: z.literal("Order"),
        types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() })).readonly()),
        signature: answerHex,
      })
      .optional()
      .describe(
        "The solver's EIP-712 signature over `orderData`. Clients can verify it with the data in this response.",
      ),
    paymentDetails: z.object({
      chainId: chainName,
      depository: accountText,
      currency: accountText,
      amount: digits,
    }),
  })
  .meta({ id: "ProtocolV2" });

export type OrderData = z.infer<typeof orderData>;
export type ProtocolV2 = z.infer<typeof protocolV2>;
