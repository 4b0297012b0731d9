import type { ReadinessAnswer } from "@causeway/wire";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { ScannedBlock } from "../db/reads.port.ts";
import type { Services } from "../db/services.port.ts";
import { scanLag } from "../deposits/index.ts";

/**
 * Reports for each task whether this process, another process or none leads it. Informational: a standby is
 * as ready as a leader.
 */
export type LeaderReport = () => Promise<NonNullable<ReadinessAnswer["leaders"]>>;

/** The dependencies of a process in addition to the database. */
export interface ReadinessNeeds {
  /** Servers other than the database, by name, each with a function that resolves when the server answers. */
  readonly otherServers?: Readonly<Record<string, () => Promise<void>>>;
  readonly leaders?: LeaderReport;
  /** Names of chains without which the process is not ready. */
  readonly requiredChains?: readonly string[];
}

/** How long a server may take to answer (ms). */
const DEADLINE_MS = 2_000;

/**
 * How long one answer is reused (ms): the route is public and not rate limited, so it must not query the
 * database on every call.
 */
const REUSE_MS = 1_000;

/**
 * {@link readiness} for a public route: concurrent callers share one check, and an answer is reused for a
 * second.
 */
export function readinessCheck(
  services: Pick<Services, "reads" | "chains" | "clock">,
  needs: ReadinessNeeds = {},
): () => Promise<ReadinessAnswer> {
  let latest: { readonly atMs: number; readonly answer: Promise<ReadinessAnswer> } | undefined;
  return () => {
    const nowMs = services.clock.nowMs();
    if (latest === undefined || Math.abs(nowMs - latest.atMs) >= REUSE_MS)
      latest = { atMs: nowMs, answer: readiness(services, needs) };
    return latest.answer;
  };
}

/**
 * Ready when the database and all of `otherServers` answer (the worker needs Redis, the API does not), and at
 * least one chain is followed, including all required ones. Any other unreachable or lagging chain fails only
 * its own routes, so it is reported but does not affect readiness.
 */
export async function readiness(
  services: Pick<Services, "reads" | "chains">,
  { otherServers = {}, leaders, requiredChains = [] }: ReadinessNeeds = {},
): Promise<ReadinessAnswer> {
  const servers = { database: () => services.reads.ping(), ...otherServers };
  const pings = Object.entries(servers).map(async ([name, ping]) => [name, await checkServer(ping)] as const);
  const checks: Record<string, string> = Object.fromEntries(await Promise.all(pings));
  // Without the database, the leaders are unknown.
  const leaderStates = checks["database"] === "ok" ? await leaders?.().catch(() => undefined) : undefined;
  const areServersUp = Object.values(checks).every((check) => check === "ok");
  const followed = new Set<string>();
  const scanned = await within(services.reads.scannedBlocks()).catch(() => undefined);
  const requirement = (name: string) => (requiredChains.includes(name) ? { required: true } : {});
  const chains: Record<string, ReadinessAnswer["chains"][string]> = {};
  for (const { chain, pulse } of services.chains.evmChains) {
    const state = pulse.head() === undefined ? "unheard" : pulse.isLagging() ? "lagging" : "ok";
    if (state === "ok") followed.add(chain.name);
    const behind = state === "ok" ? scanBehind({ chain, pulse }, scanned?.get(chain.id)) : undefined;
    checks[chain.name] = behind ?? (state === "unheard" ? "no block seen yet" : state);
    const shownState = behind === undefined ? state : "behind";
    chains[chain.name] = { state: shownState, headAgeSeconds: secondsOf(pulse), ...requirement(chain.name) };
  }
  for (const { chain, pulse } of services.chains.nonEvmChains) {
    const state = pulse.isLagging() ? "lagging" : "ok";
    if (state === "ok") followed.add(chain.name);
    checks[chain.name] = state;
    chains[chain.name] = { state, headAgeSeconds: secondsOf(pulse), ...requirement(chain.name) };
  }
  const ready = areServersUp && followed.size > 0 && requiredChains.every((name) => followed.has(name));
  return { ready, chains, checks, ...(leaderStates !== undefined && { leaders: leaderStates }) };
}

const secondsOf = (pulse: Pick<ConnectedChain["pulse"], "headAgeMs">): number =>
  Math.round(pulse.headAgeMs() / 1000);

/**
 * How far the scan is behind. Undefined before the first scan, which begins when a worker first leads the
 * chain.
 */
function scanBehind(
  { chain, pulse }: Pick<ConnectedChain, "chain" | "pulse">,
  scanned: ScannedBlock | undefined,
): string | undefined {
  const lag = scanLag(chain, pulse.head(), scanned);
  return lag?.isBehind === true ? `scan is ${lag.blocks} blocks (${lag.seconds} s) behind` : undefined;
}

async function checkServer(ping: () => Promise<void>): Promise<string> {
  try {
    return (await within(ping().then(() => "ok"))) ?? "does not respond in time";
  } catch {
    return "does not respond";
  }
}

/** The result; undefined if there is none in time. */
async function within<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), DEADLINE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
