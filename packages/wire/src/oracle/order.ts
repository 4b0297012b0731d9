import { z } from "zod";
import { because } from "../because.ts";
import {
  address,
  canonicalAmount,
  chainName,
  evmAccount,
  hash32,
  hexData,
  unixSeconds32,
} from "./scalars.ts";

const list = <Item extends z.ZodType>(item: Item, most: number): z.ZodArray<Item> =>
  z.array(item, because("must be a list")).max(most, `must have at most ${most} entries`);

/**
 * An order as the oracle is asked about it. Looser than the quotes of the API only where other families spell
 * addresses in other ways; stricter about amounts, because orders come from anybody.
 */
export const attestedOrder = z
  .object(
    {
      version: z.literal("v1", because("must be v1")),
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
    because("must be an order"),
  )
  .meta({ id: "AttestedOrder" });

export type AttestedOrder = z.infer<typeof attestedOrder>;
