import { z } from "zod";
import { because } from "../because.ts";
import { address, chainId, flag, numberOrDigits, text } from "../scalars.ts";

/** Currencies of one answer. */
export const MOST_CURRENCIES = 100;
const DEFAULT_CURRENCIES = 20;
const MOST_CHAINS = 200;
const MOST_TOKENS = 500;

const limit = numberOrDigits(`a whole number from 1 to ${MOST_CURRENCIES}`, MOST_CURRENCIES)
  .refine((value) => Number(value) !== 0, `must be a whole number from 1 to ${MOST_CURRENCIES}`)
  .default(DEFAULT_CURRENCIES);

/** Body of `POST /currencies/v2` and `/currencies/v1`; all of it may be absent. */
export const currenciesRequest = z
  .object(
    {
      defaultList: flag.optional().describe("Only what this instance itself lists, not the token lists."),
      chainIds: z
        .array(chainId, because("must be an array of chain ids"))
        .max(MOST_CHAINS, `must have at most ${MOST_CHAINS} chain ids`)
        .optional()
        .describe("Default: every chain of this instance; those that it does not have are passed over."),
      term: text(128).optional().describe("Part of a symbol, a name, or an address."),
      address: address.optional().describe("Exactly this token, on whatever chain it is."),
      currencyId: text(128).optional().describe("Exactly this asset, e.g. `usdc`."),
      tokens: z
        .array(
          text(128).regex(/^\d{1,16}:.+$/, 'must be "<chain id>:<address>"'),
          because('must be an array of "<chain id>:<address>"'),
        )
        .max(MOST_TOKENS, `must have at most ${MOST_TOKENS} tokens`)
        .optional()
        .describe('Exactly these, each as `"<chain id>:<address>"`.'),
      verified: flag
        .optional()
        .describe(
          "`true`: only what the operator or a token list of his vouches for; `false` changes nothing.",
        ),
      limit: limit.describe(`At most so many, 1 to ${MOST_CURRENCIES}.`),
      includeAllChains: flag
        .optional()
        .describe("Tells the same assets on the other chains too, of whatever was found."),
      useExternalSearch: flag
        .optional()
        .describe(
          "A token that no list names is asked for on its chains, when `address`, `term` or `tokens` hold its address. Without a secret key at most 5 such searches a minute from one address.",
        ),
      depositAddressOnly: flag.optional().describe("Only what can be paid to a deposit address."),
      referrer: text(512).optional().describe("Who asks; informative."),
    },
    because("must be a JSON object"),
  )
  .meta({ id: "CurrenciesRequest" });

export const listedCurrency = z
  .object({
    id: z
      .string()
      .describe("Same value for the same asset on every chain; a token of its own has one of its own."),
    chainId: z.int(),
    address: z.string().describe("The all-zero address stands for the native currency."),
    symbol: z.string(),
    name: z.string(),
    decimals: z.int().nonnegative(),
    vmType: z.enum(["evm", "svm", "bvm", "hypevm"]),
    metadata: z.object({
      logoURI: z.string().describe("URL of the logo; empty when there is none."),
      verified: z
        .boolean()
        .describe(
          "The operator of this instance or a token list of his vouches for it. Otherwise symbol and name are what the token says of itself: anything.",
        ),
      isNative: z.boolean(),
    }),
  })
  .meta({ id: "ListedCurrency" });

export const currenciesAnswer = z.array(listedCurrency);
export const currencyGroupsAnswer = z.array(z.array(listedCurrency));

/** Query of `GET /currencies/trending`. */
export const trendingQuery = z.object({
  chainId: numberOrDigits("a chain id").optional().describe("Only of this chain."),
  sortBy: text(32)
    .optional()
    .describe("`volume`: by the USD that moved; anything else, and by default: by the number of requests."),
  limit: limit.describe(`At most so many, 1 to ${MOST_CURRENCIES}.`),
});

/** Query of `GET /currencies/token/price` and `/v2`. */
export const tokenPriceQuery = z.object({
  address: address.describe("The all-zero address asks for the native currency."),
  chainId: numberOrDigits("a chain id"),
});

export const tokenPriceAnswer = z
  .object({ price: z.number().describe("USD of a whole unit.") })
  .meta({ id: "TokenPrice" });

export const tokenPriceTextAnswer = z
  .object({ price: z.string().describe("USD of a whole unit, up to 18 decimals.") })
  .meta({ id: "TokenPriceText" });

export type CurrenciesInput = z.infer<typeof currenciesRequest>;
export type ListedCurrency = z.infer<typeof listedCurrency>;
export type TrendingInput = z.infer<typeof trendingQuery>;
