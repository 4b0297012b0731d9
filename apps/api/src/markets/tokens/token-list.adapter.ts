import { MAX_DECIMALS } from "@causeway/chains";
import type { Currency } from "@causeway/domain";
import { cleanText, NATIVE_CURRENCY, parseAddress } from "@causeway/domain";
import { z } from "zod";
import { foreignToken } from "./foreign-token.adapter.ts";

/** Maximum number of entries of one list; the largest public ones have about ten thousand. */
const MAX_TOKENS = 100_000;

/** https://tokenlists.org: the required fields of a list; others are ignored. */
const tokenList = z.object({ tokens: z.array(z.unknown()).max(MAX_TOKENS) });

const listedToken = z.object({
  chainId: z.int().positive(),
  address: z.string(),
  decimals: z.int().min(0).max(MAX_DECIMALS),
  symbol: z.string(),
  name: z.string(),
  logoURI: z.string().max(2_048).optional(),
});

/** A parsed list, limited to configured chains. */
export interface ReadList {
  readonly tokens: readonly Currency[];
  /** Number of invalid entries. */
  readonly refused: number;
}

/**
 * Reads a document of the standard token-list format. Invalid entries are skipped, so that one of them does
 * not discard the others.
 * @throws ZodError when it is not a token list at all
 */
export function readTokenList(document: unknown, chainIds: ReadonlySet<number>): ReadList {
  let refused = 0;
  const tokens = tokenList.parse(document).tokens.flatMap((entry): readonly Currency[] => {
    const read = listedToken.safeParse(entry);
    // Lists also contain tokens of other chain families with other address formats, under chain ids that are
    // not configured here.
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
      // Clients show it as an image, so only image URLs are allowed.
      logoUri: /^(https?|ipfs):\/\/\S+$/i.test(entry.logoURI ?? "") ? entry.logoURI : undefined,
      verified: true,
    }),
  ];
}
