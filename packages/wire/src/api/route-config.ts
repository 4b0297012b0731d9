import { z } from "zod";
import { address, digits, evmAddress, numberOrDigits, text } from "../scalars.ts";
import { deprecation } from "./deprecation.ts";

/** Query of `GET /config/v2` and `GET /config`. */
export const routeConfigQuery = z.object({
  originChainId: numberOrDigits("a chain id"),
  destinationChainId: numberOrDigits("a chain id"),
  user: address.optional().describe("Whose balance; without it the balance is told as 0."),
  currency: text(128)
    .min(1, "must not be empty")
    .optional()
    .describe("Id, symbol or address of a currency of the origin chain; default: its native one."),
});

export const routeConfigAnswer = z
  .object({
    enabled: z.boolean().describe("This currency can be bridged between these chains now."),
    user: z.object({
      balance: digits.describe("Of the currency on the origin chain, smallest units."),
      maxBridgeAmount: digits.describe("The most of it that one request can bridge now."),
    }),
    solver: z.object({
      address: evmAddress,
      balance: digits.describe("Free for new fills on the destination chain, in its smallest units."),
      capacityPerRequest: digits.describe("The most that one fill can be, likewise."),
    }),
    supportsExternalLiquidity: z.boolean(),
    deprecation,
  })
  .meta({ id: "RouteConfig" });

export type RouteConfigAnswer = Omit<z.infer<typeof routeConfigAnswer>, "deprecation">;
