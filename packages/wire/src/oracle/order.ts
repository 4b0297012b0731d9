import { z } from "zod";
import { message } from "../message.ts";
import {
  address,
  canonicalAmount,
  chainName,
  evmAccount,
  hash32,
  hexData,
  unixSeconds32,
} from "./scalars.ts";

const list = <Item extends z.ZodType>(item: Item, max: number): z.ZodArray<Item> =>
  z.array(item, message("must be a list")).max(max, `must have at most ${max} entries`);

/**
 * An order in a request to the oracle. Accepts the address formats of every family, and only canonical
 * amounts, because anyone can send orders.
 */
export const attestedOrder = z
  .object(
    {
      version: z.literal("v1", message("must be v1")),
      solverChainId: chainName,
      solver: evmAccount,
      salt: hash32,
      inputs: list(
        z.object({
          payment: z.object({
            chainId: chainName,
            currency: address,
            amount: canonicalAmount,
            weight: canonicalAmount,
          }),
          refunds: list(
            z.object({
              chainId: chainName,
              recipient: address,
              currency: address,
              minimumAmount: canonicalAmount,
              deadline: unixSeconds32,
              extraData: hexData,
            }),
            64,
          ),
        }),
        64,
      ),
      output: z.object({
        chainId: chainName,
        payments: list(
          z.object({
            recipient: address,
            currency: address,
            minimumAmount: canonicalAmount,
            expectedAmount: canonicalAmount,
          }),
          64,
        ),
        calls: list(hexData, 64),
        deadline: unixSeconds32,
        extraData: hexData,
      }),
      fees: list(
        z.object({
          recipientChainId: chainName,
          recipient: address,
          currencyChainId: chainName,
          currency: address,
          amount: canonicalAmount,
        }),
        64,
      ),
    },
    message("must be an order"),
  )
  .meta({ id: "AttestedOrder" });

export type AttestedOrder = z.infer<typeof attestedOrder>;
