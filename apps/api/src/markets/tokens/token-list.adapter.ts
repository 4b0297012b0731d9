import { MAX_DECIMALS } from "@causeway/chains";
import type { Currency } from "@causeway/domain";
import { cleanText, NATIVE_CURRENCY, parseAddress } from "@causeway/domain";
import { z } from "zod";
import { foreignToken } from "./foreign-token.adapter.ts";

/** Most entries of one list; the largest public ones have some ten thousand. */
const MAX_TOKENS = 100_000;

/** https://tokenlists.org: what is needed of a list. Fields that are not named here do not matter. */
const tokenList = z.object({ tokens: z.array(z.unknown()).max(MAX_TOKENS) });

const listedToken = z.object({
  chainId: z.int().positive(),
  address: z.string(),
  decimals: z.int().min(0).max(MAX_DECIMALS),
  symbol: z.string(),
  name: z.string(),
  logoURI: z.string().max(2_048).optional(),
});

/** What a list says, for the chains that matter here. */
export interface ReadList {
  readonly tokens: readonly Currency[];
  /** Entries that are no tokens by the format. */
  readonly refused: number;
}

/**
 * Reads a document of the standard token-list format. An entry that does not hold to it is left out: one bad
 * entry must not take the others away.
 * @throws ZodError when it is no token list at all
 */
export function readTokenList(document: unknown, chainIds: ReadonlySet<number>): ReadList {
  let refused = 0;
  const tokens = tokenList.parse(document).tokens.flatMap((entry): readonly Currency[] => {
    const read = listedToken.safeParse(entry);
    // Lists also name tokens of other families of chains, whose addresses have other forms: they stand under
    // chain ids that are not ours.
    if (read.success && !chainIds.has(read.data.chainId)) return [];
    const token = read.success ? currencyOf(read.data) : undefined;
    if (token === undefined) refused += 1;
    return token ?? [];
  });
  return { tokens, refused };
}

function currencyOf(entry: z.infer<typeof listedToken>): readonly [Currency] | undefined {
  const address = parseAddress(entry.address);
  const symbol = cleanText(entry.symbol, 32);
  if (address === undefined || address === NATIVE_CURRENCY || symbol === "") return undefined;
  return [
    foreignToken({
      chainId: entry.chainId,
      address,
      symbol,
      name: cleanText(entry.name, 128) || symbol,
      decimals: entry.decimals,
      // Shown as an image by clients: nothing else than an address of one.
      logoUri: /^(https?|ipfs):\/\/\S+$/i.test(entry.logoURI ?? "") ? entry.logoURI : undefined,
      verified: true,
    }),
  ];
}
