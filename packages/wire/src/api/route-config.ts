import { z } from "zod";
import { address, digits, evmAddress, numberOrDigits, text } from "../scalars.ts";
import { deprecation } from "./deprecation.ts";

/** Query of `GET /config/v2` and `GET /config`. */
export const routeConfigQuery = z.object({
  originChainId: numberOrDigits("a chain id"),
  destinationChainId: numberOrDigits("a chain id"),
  user: address.optional().describe("Account whose balance to return; without it the balance is 0."),
  currency: text(128)
    .min(1, "must not be empty")
    .optional()
    .describe("Id, symbol or address of a currency on the origin chain; default: its native token."),
});

export const routeConfigAnswer = z
  .object({
    enabled: z.boolean().describe("Whether this currency can be bridged between these chains now."),
    user: z.object({
      balance: digits.describe("Balance of the currency on the origin chain, in base units."),
      maxBridgeAmount: digits.describe("Maximum amount that one request can bridge now."),
    }),
    solver: z.object({
      address: evmAddress,
      balance: digits.describe(
        "Available for new fills on the destination chain, in base units of its currency.",
      ),
      capacityPerRequest: digits.describe("Maximum size of a single fill, in the same units."),
    }),
    supportsExternalLiquidity: z.boolean(),
    deprecation,
  })
  .meta({ id: "RouteConfig" });

export type RouteConfigAnswer = Omit<z.infer<typeof routeConfigAnswer>, "deprecation">;
