import { parseAddress } from "@causeway/domain";
import { canonicalCase } from "@causeway/families";
import type { ChainEntry } from "./evm-schema.ts";
import type { NonEvmEntry } from "./non-evm-schema.ts";
import { duplicatesIn } from "./duplicates.ts";

type Entry = ChainEntry | NonEvmEntry;

/** Problems between entries that are valid on their own, one sentence per problem. */
export function consistencyProblems(entries: readonly Entry[]): readonly string[] {
  return [
    ...duplicatesIn(entries.map((e) => String(e.chainId))).map((id) => `duplicate chainId ${id}`),
    ...entries.flatMap(tokenProblems),
    ...entries.flatMap((entry) => ("liquidity" in entry ? liquidityProblems(entry) : [])),
    ...assetProblems(entries),
  ];
}

function tokenProblems(entry: Entry): readonly string[] {
  const addresses = entry.tokens.map((t) => keyOf(entry, t.address));
  const ids = [entry.native.id, ...entry.tokens.map((t) => t.id)];
  return [
    ...duplicatesIn(addresses).map((address) => `(${entry.id}).tokens: duplicate address ${address}`),
    ...duplicatesIn(ids).map((id) => `(${entry.id}): duplicate currency id ${id}`),
  ];
}

/** Hex ignores case, base58 does not. */
function keyOf({ vmType }: Entry, address: string): string {
  return address.startsWith("0x") ? canonicalCase(vmType, address) : address;
}

/** A swap path must not visit a token twice, and clients identify a source only by its name. */
function liquidityProblems({ id, liquidity }: ChainEntry): readonly string[] {
  if (liquidity === undefined) return [];
  const connectors = liquidity.connectors.map((connector) => parseAddress(connector) ?? connector);
  const names = liquidity.sources.map(({ name }) => name);
  return [
    ...duplicatesIn(connectors).map(
      (address) => `(${id}).liquidity.connectors: duplicate address ${address}`,
    ),
    ...duplicatesIn(names).map((name) => `(${id}).liquidity.sources: duplicate name ${name}`),
  ];
}

/** An asset must have the same price and class on every chain; otherwise, bridging it would be a trade. */
function assetProblems(entries: readonly Entry[]): readonly string[] {
  const firstByCurrency = new Map<string, { chain: string; priceId: string; class: string }>();
  return entries.flatMap((entry) =>
    [entry.native, ...entry.tokens].flatMap((currency) => {
      const earlier = firstByCurrency.get(currency.id);
      if (earlier === undefined) {
        firstByCurrency.set(currency.id, {
          chain: entry.id,
          priceId: currency.priceId,
          class: currency.class,
        });
        return [];
      }
      return earlier.priceId === currency.priceId && earlier.class === currency.class
        ? []
        : [
            `(${entry.id}): currency ${currency.id} has a different priceId or class than on ${earlier.chain}`,
          ];
    }),
  );
}
