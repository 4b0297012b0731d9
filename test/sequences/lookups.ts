import type { Address } from "@causeway/domain";
import { parseUnits } from "viem";
import type { ApiKeyIdentity } from "../../apps/api/src/http/api-keys.port.ts";
import type { Asset } from "./action.ts";
import type { SequenceWorld, WorldChain } from "./world.ts";

/** The home chain, on which apps hold their balances. */
export const homeOf = (world: SequenceWorld): WorldChain => world.chains[0];

export function currencyAt(world: SequenceWorld, chain: 0 | 1, asset: Asset): Address {
  const currency = [world.chains[chain].chain.native, ...world.chains[chain].chain.tokens].find(
    ({ id }) => id === asset,
  );
  if (currency === undefined) throw new Error(`chain ${chain} has no ${asset}`);
  return currency.address;
}

/** The amount of an asset, in base units, that is worth this many USD now. */
export function amountWorth(world: SequenceWorld, chain: 0 | 1, asset: Asset, usd: number): bigint {
  const currency = world.currencyOf(world.chains[chain].chain.id, currencyAt(world, chain, asset));
  const price = world.services.prices.usd(currency);
  if (typeof price !== "bigint") throw new Error("invariant violated: a price is not in memory");
  return (parseUnits(String(usd), 18) * 10n ** BigInt(currency.decimals)) / price;
}

/** The key of an app; undefined if it was revoked. */
export function keyOf(world: SequenceWorld, app: number): ApiKeyIdentity | undefined {
  const key = world.apps[app];
  return key !== undefined && world.revoked.has(key.id) ? undefined : key;
}

/**
 * An entry by its index from the end of the list; larger indexes wrap around. Undefined if the list is empty.
 */
export function pick<T>(list: readonly T[], fromEnd: number): T | undefined {
  return list.length === 0 ? undefined : list[list.length - 1 - (fromEnd % list.length)];
}
