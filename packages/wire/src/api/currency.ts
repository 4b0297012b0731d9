import { z } from "zod";
import { decimal, signedDigits } from "../scalars.ts";

export const currencyMetadata = z
  .object({
    logoURI: z.string().describe("URL of the logo; empty when there is none."),
    verified: z.boolean().describe("The operator of this instance vouches for the currency."),
  })
  .meta({ id: "CurrencyMetadata" });

const currencyFields = {
  id: z.string().describe("Same value for the same asset on every chain, e.g. `usdc`."),
  symbol: z.string(),
  name: z.string(),
  address: z.string().describe("The all-zero address stands for the native currency."),
  decimals: z.int().nonnegative(),
};

/** A currency as `GET /chains` lists it. */
export const chainCurrency = z
  .object({
    ...currencyFields,
    supportsBridging: z.boolean().describe("Can be the input or output of a quote."),
    metadata: currencyMetadata.optional(),
  })
  .meta({ id: "ChainCurrency" });

/** An ERC-20 currency of a chain, with what it costs to move it. */
export const erc20Currency = z
  .object({
    ...currencyFields,
    supportsBridging: z.boolean().describe("Can be the input or output of a quote."),
    supportsPermit: z.boolean().describe("The token takes EIP-2612 or EIP-3009 signatures."),
    withdrawalFee: z.number().describe("bps charged when this chain is the destination."),
    depositFee: z.number().describe("bps charged when this chain is the origin."),
    surgeEnabled: z.boolean(),
    metadata: currencyMetadata,
  })
  .meta({ id: "Erc20Currency" });

/** A currency the solver keeps in stock. */
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

/** An amount of one currency, in three notations. */
export const amountObject = z
  .object({
    currency,
    amount: signedDigits.describe("Smallest units."),
    amountFormatted: decimal.describe("Whole units."),
    amountUsd: decimal.describe("USD, six decimals."),
    minimumAmount: signedDigits.describe(
      "Smallest units. For the output this is a promise: never filled below it.",
    ),
  })
  .meta({ id: "Amount" });

export type ChainCurrency = z.infer<typeof chainCurrency>;
export type Erc20Currency = z.infer<typeof erc20Currency>;
export type SolverCurrency = z.infer<typeof solverCurrency>;
export type QuoteCurrency = z.infer<typeof currency>;
export type AmountObject = z.infer<typeof amountObject>;
