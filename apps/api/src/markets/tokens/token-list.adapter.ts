import { MAX_DECIMALS } from "@causeway/chains";
import type { Currency } from "@causeway/domain";
import { cleanText, NATIVE_CURRENCY, parseAddress } from "@causeway/domain";
import { z } from "zod";
import { foreignToken } from "./foreign-token.adapter.ts";

/** Maximum number of entries of one list; the largest public lists have about ten thousand. */
const MAX_TOKENS = 100_000;

/** The required fields of a list (https://tokenlists.org); other fields are ignored. */
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
 * Reads a document of the standard token-list format. Invalid entries are skipped, so that an invalid entry
 * does not discard the whole list.
 * @throws ZodError when the document is not a token list
 */
export function readTokenList(document: unknown, chainIds: ReadonlySet<number>): ReadList {
  let refused = 0;
  const tokens = tokenList.parse(document).tokens.flatMap((entry): readonly Currency[] => {
    const parsed = listedToken.safeParse(entry);
    // Tokens of chains that are not configured do not count as invalid, even if their addresses have another
    // format.
    if (parsed.success && !chainIds.has(parsed.data.chainId)) return [];
    const token = parsed.success ? currencyOf(parsed.data) : undefined;
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
      // Clients load it as an image, so other URL schemes are not allowed.
      logoUri: /^(https?|ipfs):\/\/\S+$/i.test(entry.logoURI ?? "") ? entry.logoURI : undefined,
      verified: true,
    }),
  ];
}
