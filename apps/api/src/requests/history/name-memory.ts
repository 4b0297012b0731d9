import type { ChainCurrency, KnownName } from "./history-entry.ts";

/** How long names are remembered: they change when a process starts with another configuration. */
const REMEMBERED_MS = 60_000;

/**
 * Names of currencies as this process read them, so that listing a request needs no read before its write.
 */
export interface NameMemory {
  /** Undefined: it must be read. */
  find(currency: ChainCurrency): KnownName | undefined;
  keep(names: readonly (ChainCurrency & KnownName)[]): void;
}

/** @param nowMs the monotonic clock, ms */
export function nameMemory(nowMs: () => number = () => performance.now()): NameMemory {
  // At most one entry per configured currency.
  const entries = new Map<string, { readonly name: KnownName; readonly atMs: number }>();
  const keyOf = ({ chainId, address }: ChainCurrency): string => `${chainId} ${address}`;
  return {
    find(currency) {
      const entry = entries.get(keyOf(currency));
      return entry === undefined || nowMs() - entry.atMs > REMEMBERED_MS ? undefined : entry.name;
    },
    keep(names) {
      const atMs = nowMs();
      for (const name of names) entries.set(keyOf(name), { name, atMs });
    },
  };
}
