import type { RecipientStanding, TokenBehavior, TokenProbe } from "@causeway/chains";
import type { Clock } from "../db/clock.port.ts";
import type { TokenQuirks } from "./token-quirks.port.ts";

/**
 * A token's code rarely changes, but behind a proxy it can: cached results are refreshed in the background.
 */
const BEHAVIOR_MS = 6 * 3_600_000;
/** Blocklists change slowly, but a recipient may be added at any time. */
const RECIPIENT_MS = 10 * 60_000;
/** How long an unknown result is cached: another pool or a working node may allow an answer later. */
const UNKNOWN_MS = 60_000;
const MAX_ENTRIES = 20_000;

export interface TokenQuirksOptions {
  /** Probes by chain id. A chain without pools has no probe, and its tokens remain unknown. */
  readonly probes: ReadonlyMap<number, TokenProbe>;
  readonly clock: Clock;
  /** Receives failures of nodes. */
  readonly onFault: (error: unknown, facts: { readonly chainId: number }) => void;
  /** Maximum number of cached answers of each kind; evicts the least recently used. Default 20,000. */
  readonly maxKept?: number;
}

const UNKNOWN: TokenBehavior = { transfers: undefined, resetsApproval: undefined };

/**
 * Caches how tokens behave. The first caller waits; an expired answer is returned once more while it is
 * refreshed in the background.
 */
export function createTokenQuirks({
  probes,
  clock,
  onFault,
  maxKept = MAX_ENTRIES,
}: TokenQuirksOptions): TokenQuirks {
  const reportFault =
    <T>(chainId: number, unknown: T) =>
    (error: unknown): T => {
      onFault(error, { chainId });
      return unknown;
    };
  const behaviors = createCache<TokenBehavior>({
    clock,
    maxKept,
    keptMs: ({ transfers }) => (transfers === undefined ? UNKNOWN_MS : BEHAVIOR_MS),
  });
  const recipients = createCache<RecipientStanding>({
    clock,
    maxKept,
    keptMs: (standing) => (standing === undefined ? UNKNOWN_MS : RECIPIENT_MS),
  });
  return {
    behavior(chainId, token) {
      const probe = probes.get(chainId);
      if (probe === undefined) return UNKNOWN;
      return behaviors(`${chainId}:${token}`, () =>
        probe.behavior(token).catch(reportFault(chainId, UNKNOWN)),
      );
    },
    recipient(chainId, token, recipient) {
      const probe = probes.get(chainId);
      if (probe === undefined) return undefined;
      return recipients(`${chainId}:${token}:${recipient}`, () =>
        probe.recipient(token, recipient).catch(reportFault(chainId, undefined)),
      );
    },
  };
}

interface CacheOptions<T> {
  readonly clock: Clock;
  readonly maxKept: number;
  keptMs(answer: T): number;
}

/** @param ask must not reject */
function createCache<T>({
  clock,
  maxKept,
  keptMs,
}: CacheOptions<T>): (key: string, ask: () => Promise<T>) => T | Promise<T> {
  interface Entry {
    readonly answer: T;
    readonly readAtMs: number;
  }
  const entries = new Map<string, Entry>();
  const pending = new Map<string, Promise<T>>();

  const store = (key: string, entry: Entry): void => {
    entries.delete(key);
    entries.set(key, entry);
    // A map keeps insertion order: the first key is the least recently used.
    const oldest = entries.size > maxKept ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
  };
  const readOnce = (key: string, ask: () => Promise<T>): Promise<T> => {
    const running = pending.get(key);
    if (running !== undefined) return running;
    const answerPromise = ask().then((answer) => {
      pending.delete(key);
      store(key, { answer, readAtMs: clock.nowMs() });
      return answer;
    });
    pending.set(key, answerPromise);
    return answerPromise;
  };
  return (key, ask) => {
    const entry = entries.get(key);
    if (entry === undefined) return readOnce(key, ask);
    store(key, entry);
    if (clock.nowMs() - entry.readAtMs >= keptMs(entry.answer)) void readOnce(key, ask);
    return entry.answer;
  };
}
