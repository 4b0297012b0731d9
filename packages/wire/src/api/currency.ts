import { z } from "zod";
import { decimal, signedDigits } from "../scalars.ts";

export const currencyMetadata = z
  .object({
    logoURI: z.string().describe("URL of the logo; empty if there is none."),
    verified: z.boolean().describe("Whether the operator of this instance verified the currency."),
  })
  .meta({ id: "CurrencyMetadata" });

const supportsBridging = z
  .boolean()
  .describe(
    "Whether the solver holds the currency. If not, quotes swap it in pools, on chains that have them.",
  );

const currencyFields = {
  id: z.string().describe("The same for the same asset on every chain, for example `usdc`."),
  symbol: z.string(),
  name: z.string(),
  address: z.string().describe("The zero address means the native token."),
  decimals: z.int().nonnegative(),
};

/** A currency as `GET /chains` lists it. */
export const chainCurrency = z
  .object({
    ...currencyFields,
    supportsBridging,
    metadata: currencyMetadata.optional(),
  })
  .meta({ id: "ChainCurrency" });

/** An ERC-20 currency of a chain, with the cost of moving it. */
export const erc20Currency = z
  .object({
    ...currencyFields,
    supportsBridging,
    supportsPermit: z.boolean().describe("Whether the token supports EIP-2612 or EIP-3009 signatures."),
    withdrawalFee: z.number().describe("bps charged when this chain is the destination."),
    depositFee: z.number().describe("bps charged when this chain is the origin."),
    surgeEnabled: z.boolean(),
    metadata: currencyMetadata,
  })
  .meta({ id: "Erc20Currency" });

/** A currency that the solver holds. */
export const solverCurrency = z.object(currencyFields).meta({ id: "SolverCurrency" });

/** A currency inside a quote. */
export const currency = z
  .object({
    ...currencyFields,
    chainId: z.int(),
    supportsBridging: z.boolean().optional(),
    metadata: currencyMetadata,
  })
  .meta({ id: "Currency" });

/** An amount of one currency, in three formats. */
export const amountObject = z
  .object({
    currency,
    amount: signedDigits.describe("Base units."),
    amountFormatted: decimal.describe("Whole units."),
    amountUsd: decimal.describe("USD, six decimals."),
    minimumAmount: signedDigits.describe(
      "Base units. For the output of a quote, this is guaranteed: the fill never pays less. In balances it equals `amount`.",
    ),
  })
  .meta({ id: "Amount" });

export type ChainCurrency = z.infer<typeof chainCurrency>;
export type Erc20Currency = z.infer<typeof erc20Currency>;
export type SolverCurrency = z.infer<typeof solverCurrency>;
export type QuoteCurrency = z.infer<typeof currency>;
export type AmountObject = z.infer<typeof amountObject>;
