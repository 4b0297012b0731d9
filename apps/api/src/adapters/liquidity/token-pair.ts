import type { Address } from "@causeway/domain";

/** Two tokens in the order of their addresses, as pools know them. */
export interface TokenPair {
  readonly key: string;
  readonly token0: Address;
  readonly token1: Address;
}

export function tokenPair(a: Address, b: Address): TokenPair {
  // Of the same length and case, so that their texts are ordered as their numbers are.
  const [token0, token1] = a < b ? [a, b] : [b, a];
  return { key: token0 + token1, token0, token1 };
}

/** Every pair that a path from one token to the other may lead through: of the ends and the connectors between them. */
export function pairsOfPaths(
  tokenIn: Address,
  tokenOut: Address,
  connectors: readonly Address[],
  maxHops: number,
): TokenPair[] {
  const pairs = [tokenPair(tokenIn, tokenOut)];
  if (maxHops < 2) return pairs;
  const between = connectors.filter((token) => token !== tokenIn && token !== tokenOut);
  for (const token of between) pairs.push(tokenPair(tokenIn, token), tokenPair(token, tokenOut));
  if (maxHops < 3) return pairs;
  for (const [index, first] of between.entries())
    for (const second of between.slice(index + 1)) pairs.push(tokenPair(first, second));
  return pairs;
}
