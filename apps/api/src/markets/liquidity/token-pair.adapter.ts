import type { Address } from "@causeway/domain";

/** Two tokens in the order of their addresses, as in pools. */
export interface TokenPair {
  readonly key: string;
  readonly token0: Address;
  readonly token1: Address;
}

export function tokenPair(a: Address, b: Address): TokenPair {
  let pairsOfA = pairs.get(a);
  if (pairsOfA === undefined) {
    // Clients choose the tokens, so memory must be bounded.
    if (pairs.size >= MAX_TOKENS) pairs.clear();
    pairsOfA = new Map();
    pairs.set(a, pairsOfA);
  }
  let pair = pairsOfA.get(b);
  if (pair === undefined) {
    // Same length and case, so string order is numeric order.
    const [token0, token1] = a < b ? [a, b] : [b, a];
    pair = { key: token0 + token1, token0, token1 };
    if (pairsOfA.size >= MAX_TOKENS) pairsOfA.clear();
    pairsOfA.set(b, pair);
  }
  return pair;
}

const MAX_TOKENS = 1_000;
/**
 * Cached pairs: a quote looks up the same pairs hundreds of times, and building their keys each time would
 * dominate its cost.
 */
const pairs = new Map<Address, Map<Address, TokenPair>>();

/** All pairs that a path between two tokens may use: pairs of the two tokens and the connectors. */
export function pairsOfPaths(
  tokenIn: Address,
  tokenOut: Address,
  connectors: readonly Address[],
  maxHops: number,
): TokenPair[] {
  const found = [tokenPair(tokenIn, tokenOut)];
  if (maxHops < 2) return found;
  const middleTokens = connectors.filter((token) => token !== tokenIn && token !== tokenOut);
  for (const token of middleTokens) found.push(tokenPair(tokenIn, token), tokenPair(token, tokenOut));
  if (maxHops < 3) return found;
  for (const [index, first] of middleTokens.entries())
    for (const second of middleTokens.slice(index + 1)) found.push(tokenPair(first, second));
  return found;
}
