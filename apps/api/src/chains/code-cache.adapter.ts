import type { Address } from "@causeway/domain";
import type { ChainDirectory } from "./chains.port.ts";
import type { RecipientCodes } from "./recipient-codes.port.ts";

/**
 * How long an answer is cached. An account rarely becomes a contract, and quotes are priced again at their
 * fill.
 */
const KEPT_MS = 5 * 60_000;
const MAX_ENTRIES = 50_000;

interface Entry {
  readonly readAtMs: number;
  readonly answer: boolean | Promise<boolean>;
}

/**
 * Caches for a few minutes which recipients are contracts; concurrent questions share one batch, equal ones
 * one call. Uses a monotonic clock: a wall clock that was set back would keep answers too long.
 */
export function createCodeCache(chains: Pick<ChainDirectory, "get">): RecipientCodes {
  const entries = new Map<string, Entry>();

  function ask(key: string, chainId: number, recipient: Address): Promise<boolean> {
    const connected = chains.get(chainId);
    if (connected === undefined) throw new RangeError(`chain ${chainId} is not configured`);
    const readAtMs = performance.now();
    const pending = connected.connection.reader.hasCode(recipient).then(
      (answer) => {
        entries.set(key, { readAtMs, answer });
        return answer;
      },
      (error: unknown) => {
        entries.delete(key);
        throw error;
      },
    );
    // A map keeps insertion order: the first key is the oldest.
    const oldest = entries.size >= MAX_ENTRIES ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
    entries.set(key, { readAtMs, answer: pending });
    return pending;
  }

  return {
    hasCode(chainId, recipient) {
      const key = `${chainId}:${recipient}`;
      const entry = entries.get(key);
      if (entry !== undefined && performance.now() - entry.readAtMs < KEPT_MS) return entry.answer;
      return ask(key, chainId, recipient);
    },
  };
}
