import type { RecipientStanding, TokenBehaviour, TokenProbe } from "@causeway/chains";
import type { Clock } from "../db/clock.port.ts";
import type { TokenQuirks } from "./token-quirks.port.ts";

/**
 * A token's code rarely changes, and behind a proxy it may: what was found is looked at again, and believed
 * meanwhile.
 */
const BEHAVIOUR_MS = 6 * 3_600_000;
/** Lists of those who may not receive are longer lived than this, but somebody may be put on one. */
const RECIPIENT_MS = 10 * 60_000;
/** Of what could not be told the next pool, or the node's next mood, may tell. */
const UNKNOWN_MS = 60_000;
const MAX_KEPT = 20_000;

export interface TokenQuirksOptions {
  /** By chain id; a chain without pools has none, and nothing is known of its tokens. */
  readonly probes: ReadonlyMap<number, TokenProbe>;
  readonly clock: Clock;
  /** Told of nodes that did not answer. */
  readonly onFault: (error: unknown, facts: { readonly chainId: number }) => void;
  /** Answers of each kind kept at most; the one not asked for longest is forgotten first. Default 20 000. */
  readonly maxKept?: number;
}

const UNKNOWN: TokenBehaviour = { transfers: undefined, resetsApproval: undefined };

/**
 * Remembers how tokens behave. Whoever asks first waits; answers that have grown old are given once more, and
 * asked for anew behind the scenes.
 */
export function createTokenQuirks({
  probes,
  clock,
  onFault,
  maxKept = MAX_KEPT,
}: TokenQuirksOptions): TokenQuirks {
  const heard =
    <T>(chainId: number, unknown: T) =>
    (error: unknown): T => {
      onFault(error, { chainId });
      return unknown;
    };
  const behaviours = remembered<TokenBehaviour>({
    clock,
    maxKept,
    keptMs: ({ transfers }) => (transfers === undefined ? UNKNOWN_MS : BEHAVIOUR_MS),
  });
  const recipients = remembered<RecipientStanding>({
    clock,
    maxKept,
    keptMs: (standing) => (standing === undefined ? UNKNOWN_MS : RECIPIENT_MS),
  });
  return {
    behaviour(chainId, token) {
      const probe = probes.get(chainId);
      if (probe === undefined) return UNKNOWN;
      return behaviours(`${chainId}:${token}`, () => probe.behaviour(token).catch(heard(chainId, UNKNOWN)));
    },
    recipient(chainId, token, recipient) {
      const probe = probes.get(chainId);
      if (probe === undefined) return undefined;
      return recipients(`${chainId}:${token}:${recipient}`, () =>
        probe.recipient(token, recipient).catch(heard(chainId, undefined)),
      );
    },
  };
}

interface Memory<T> {
  readonly clock: Clock;
  readonly maxKept: number;
  keptMs(answer: T): number;
}

/** @param ask must not reject */
function remembered<T>({
  clock,
  maxKept,
  keptMs,
}: Memory<T>): (key: string, ask: () => Promise<T>) => T | Promise<T> {
  interface Known {
    readonly answer: T;
    readonly readAtMs: number;
  }
  const known = new Map<string, Known>();
  const asking = new Map<string, Promise<T>>();

  const keep = (key: string, entry: Known): void => {
    known.delete(key);
    known.set(key, entry);
    // A map keeps the order in which keys came: the first is the one not asked for longest.
    const oldest = known.size > maxKept ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
  };
  const askOnce = (key: string, ask: () => Promise<T>): Promise<T> => {
    const running = asking.get(key);
    if (running !== undefined) return running;
    const asked = ask().then((answer) => {
      asking.delete(key);
      keep(key, { answer, readAtMs: clock.nowMs() });
      return answer;
    });
    asking.set(key, asked);
    return asked;
  };
  return (key, ask) => {
    const entry = known.get(key);
    if (entry === undefined) return askOnce(key, ask);
    keep(key, entry);
    if (clock.nowMs() - entry.readAtMs >= keptMs(entry.answer)) void askOnce(key, ask);
    return entry.answer;
  };
}
