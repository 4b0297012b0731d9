import type { PoolCandidate, PoolReader } from "@causeway/chains";
import type { Address, Hex, PoolSource } from "@causeway/domain";
import type { PoolIdentity } from "./live-pool.adapter.ts";
import type { TokenPair } from "./token-pair.adapter.ts";

interface CandidatePool {
  readonly pairIndex: number;
  readonly source: PoolSource;
  readonly place: PoolCandidate;
}

/**
 * Finds the pools of each pair, in the order of the sources and their fees.
 * @throws RpcFault
 */
export async function findPools(
  reader: PoolReader,
  sources: readonly PoolSource[],
  pairs: readonly TokenPair[],
  blockHash: Hex,
): Promise<(readonly PoolIdentity[])[]> {
  if (pairs.length === 0) return [];
  const places = pairs.flatMap((pair, pairIndex) =>
    sources.flatMap((source) =>
      placesOf(source, pair).map((place): CandidatePool => ({ pairIndex, source, place })),
    ),
  );
  const addresses = await reader.find(
    places.map(({ place }) => place),
    blockHash,
  );
  const concentrated = places.flatMap(({ place }, index) => {
    const address = addresses[index];
    return place.kind === "uniswap-v3" && address !== undefined ? [address] : [];
  });
  const spacings = new Map<Address, number>();
  for (const [index, spacing] of (await reader.tickSpacings(concentrated, blockHash)).entries())
    spacings.set(concentrated[index] as Address, spacing);
  const found = pairs.map((): PoolIdentity[] => []);
  for (const [index, { pairIndex, source, place }] of places.entries()) {
    const address = addresses[index];
    if (address === undefined) continue;
    const pair = pairs[pairIndex] as TokenPair;
    if (source.kind === "uniswap-v2") found[pairIndex]?.push({ kind: source.kind, pair, address, source });
    else if (place.kind === "uniswap-v3") {
      const tickSpacing = spacings.get(address) as number;
      found[pairIndex]?.push({ kind: source.kind, pair, address, source, fee: place.fee, tickSpacing });
    }
  }
  return found;
}

function placesOf(source: PoolSource, { token0, token1 }: TokenPair): PoolCandidate[] {
  const { kind, factory } = source;
  return kind === "uniswap-v2"
    ? [{ kind, factory, a: token0, b: token1 }]
    : source.feeTiers.map((fee) => ({ kind, factory, a: token0, b: token1, fee }));
}
