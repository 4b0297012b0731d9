import { z } from "zod";
import { message } from "../message.ts";
import { address, chainId, flag, numberOrDigits, text } from "../scalars.ts";

/** Maximum currencies per answer. */
export const MAX_CURRENCIES = 100;
const DEFAULT_CURRENCIES = 20;
const MAX_CHAINS = 200;
const MAX_TOKENS = 500;

const limit = numberOrDigits(`a whole number from 1 to ${MAX_CURRENCIES}`, MAX_CURRENCIES)
  .refine((value) => Number(value) !== 0, `must be a whole number from 1 to ${MAX_CURRENCIES}`)
  .default(DEFAULT_CURRENCIES);

/** Body of `POST /currencies/v2` and `/currencies/v1`; all fields are optional. */
export const currenciesRequest = z
  .object(
    {
      defaultList: flag
        .optional()
        .describe("Only currencies from this instance's own configuration, not from token lists."),
      chainIds: z
        .array(chainId, message("must be an array of chain ids"))
        .max(MAX_CHAINS, `must have at most ${MAX_CHAINS} chain ids`)
        .optional()
        .describe("Default: all chains of this instance. Unknown chain ids are ignored."),
      term: text(128).optional().describe("Part of a symbol or name, or an address."),
      address: address.optional().describe("Exactly this token address, on any chain."),
      currencyId: text(128).optional().describe("Exactly this asset, for example `usdc`."),
      tokens: z
        .array(
          text(128).regex(/^\d{1,16}:.+$/, 'must be "<chain id>:<address>"'),
          message('must be an array of "<chain id>:<address>"'),
        )
        .max(MAX_TOKENS, `must have at most ${MAX_TOKENS} tokens`)
        .optional()
        .describe('Exactly these tokens, each as `"<chain id>:<address>"`.'),
      verified: flag
        .optional()
        .describe(
          "`true`: only currencies verified by the operator or by one of the operator's token lists. `false` has no effect.",
        ),
      limit: limit.describe(`Maximum number of results, 1 to ${MAX_CURRENCIES}.`),
      includeAllChains: flag.optional().describe("Also return the matching assets on all other chains."),
      useExternalSearch: flag
        .optional()
        .describe(
          "Also read unlisted tokens from their chains, if `address`, `term` or `tokens` contains their address. Without a secret key, limited to 5 such searches per minute and IP address.",
        ),
      depositAddressOnly: flag.optional().describe("Only currencies that can be sent to a deposit address."),
      referrer: text(512).optional().describe("Name of the calling app; informational."),
    },
    message("must be a JSON object"),
  )
  .meta({ id: "CurrenciesRequest" });

export const listedCurrency = z
  .object({
    id: z
      .string()
      .describe(
        "The same for the same asset on every chain; unique for a token that exists on one chain only.",
      ),
    chainId: z.int(),
    address: z.string().describe("The zero address means the native token."),
    symbol: z.string(),
    name: z.string(),
    decimals: z.int().nonnegative(),
    vmType: z.enum(["evm", "svm", "bvm", "hypevm"]),
    metadata: z.object({
      logoURI: z.string().describe("URL of the logo; empty if there is none."),
      verified: z
        .boolean()
        .describe(
          "Whether the operator or one of the operator's token lists verified the currency. If not, symbol and name come from the token contract and can be anything.",
        ),
      isNative: z.boolean(),
    }),
  })
  .meta({ id: "ListedCurrency" });

export const currenciesAnswer = z.array(listedCurrency);
export const currencyGroupsAnswer = z.array(z.array(listedCurrency));

/** Query of `GET /currencies/trending`. */
export const trendingQuery = z.object({
  chainId: numberOrDigits("a chain id").optional().describe("Only currencies of this chain."),
  sortBy: text(32)
    .optional()
    .describe("`volume` sorts by USD volume; any other value, and the default, by number of requests."),
  limit: limit.describe(`Maximum number of results, 1 to ${MAX_CURRENCIES}.`),
});

/** Query of `GET /currencies/token/price` and `/v2`. */
export const tokenPriceQuery = z.object({
  address: address.describe("The zero address means the native token."),
  chainId: numberOrDigits("a chain id"),
});

export const tokenPriceAnswer = z
  .object({ price: z.number().describe("USD price of one whole unit.") })
  .meta({ id: "TokenPrice" });

export const tokenPriceTextAnswer = z
  .object({ price: z.string().describe("USD price of one whole unit, up to 18 decimals.") })
  .meta({ id: "TokenPriceText" });

export type CurrenciesInput = z.infer<typeof currenciesRequest>;
export type ListedCurrency = z.infer<typeof listedCurrency>;
export type TrendingInput = z.infer<typeof trendingQuery>;
