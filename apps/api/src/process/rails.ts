import type { NonceMappings, OpenRail, PayingRail, RailOptions } from "@causeway/chains";
import { createRail } from "@causeway/chains";
import type { Hex, Hex32, RailVm } from "@causeway/domain";
import type { Lifecycle } from "@causeway/service-kit";
import { createRailPulse } from "../chains/rail-pulse.adapter.ts";
import type { ObserveEndpoint } from "../telemetry/rpc-call-times.ts";
import { createRailUsers } from "../chains/rail-users.adapter.ts";
import type { ApiConfig, RailConfig, WorkerConfig } from "../config/config.ts";
import { monotonicClock } from "../config/monotonic-clock.ts";
import type { ConnectedRail } from "../chains/chains.port.ts";
import type { Services } from "../db/services.port.ts";

/** Facts of a rail older than this many block times, and than so many ms, price nothing any more. */
const MAX_AGE_BLOCKS = 3;
const MIN_MAX_AGE_MS = 60_000;
const REFRESH_MS = 10_000;
const MIN_PAUSE_MS = 2_000;
/** Between two readings of what the solver holds, at an endpoint with a rate limit. */
const LIMITED_PAUSE_MS = 10_000;

/**
 * Reaches every configured chain without account nonces. The libraries of a family are loaded when a chain of
 * it is configured. A node that does not answer now is waited for later.
 * @throws RangeError for a family that this build has no rail for
 */
export async function connectRails(
  config: Pick<ApiConfig, "rails" | "accounts">,
  services: Pick<Services, "clock" | "events">,
  lifecycle: Lifecycle,
  nonceMappings?: NonceMappings,
  { answersClients = false, create = createRail, observeEndpoint }: RailProcess = {},
): Promise<ConnectedRail<OpenRail>[]> {
  return await Promise.all(
    config.rails.map((one) =>
      connect(one, solverOn(config.accounts, one.chain.vmType), {
        ...services,
        lifecycle,
        nonceMappings,
        create,
        answersClients,
        observeEndpoint,
      }),
    ),
  );
}

export interface RailProcess {
  /** Whether this process answers clients. */
  readonly answersClients?: boolean;
  readonly create?: typeof createRail;
  readonly observeEndpoint?: ObserveEndpoint | undefined;
}

interface Surroundings
  extends Pick<Services, "clock" | "events">, Required<Omit<RailProcess, "observeEndpoint">> {
  readonly observeEndpoint: ObserveEndpoint | undefined;
  readonly lifecycle: Lifecycle;
  readonly nonceMappings: NonceMappings | undefined;
}

async function connect(
  { chain, attestation }: RailConfig,
  solver: Hex,
  { clock, events, lifecycle, nonceMappings, create, answersClients, observeEndpoint }: Surroundings,
): Promise<ConnectedRail<OpenRail>> {
  const facts = { chain: chain.name };
  const options: RailOptions = {
    chain,
    attestation,
    solver,
    nonceMappings,
    answersClients,
    ...(observeEndpoint !== undefined && {
      observeEndpoint: (url: string) => observeEndpoint(chain.name, url),
    }),
    now: () => clock.nowMs(),
    onFault: (fault) => events.fault("chain_fault", fault, facts),
  };
  const rail = await create(options);
  lifecycle.add(`non-EVM chain ${chain.name}`, () => rail.close());
  const pulse = createRailPulse({
    chain,
    rail,
    monotonic: monotonicClock,
    maxAgeMs: Math.max(MAX_AGE_BLOCKS * chain.blockTimeSeconds * 1000, MIN_MAX_AGE_MS),
    refreshMs: REFRESH_MS,
    minPauseMs: attestation.hyperliquid?.weightPerMinute === undefined ? MIN_PAUSE_MS : LIMITED_PAUSE_MS,
    onFault: (fault) => events.fault("chain_fault", fault, { ...facts, part: "pulse" }),
  });
  lifecycle.add(`pulse of ${chain.name}`, () => pulse.close());
  await pulse
    .refresh()
    .catch((error: unknown) => events.fault("chain_fault", error, { ...facts, at: "start" }));
  const users = await createRailUsers(options);
  if (users === undefined) return { chain, rail, pulse };
  lifecycle.add(`users of ${chain.name}`, () => users.close());
  return { chain, rail, pulse, users };
}

/**
 * The same chains, with the solver's keys.
 * @throws RangeError when a key is missing, or is not that of the solver's account there
 */
export async function withRailKeys(
  rails: readonly ConnectedRail<OpenRail>[],
  config: Pick<WorkerConfig, "keys" | "solver">,
): Promise<ConnectedRail<PayingRail>[]> {
  return await Promise.all(
    rails.map(async (one) => ({
      ...one,
      rail: await one.rail.withKey(keyOn(config, one.chain.vmType)),
    })),
  );
}

/** On Hyperliquid the solver is its EVM account. */
function solverOn({ solver, solana, bitcoin }: ApiConfig["accounts"], vm: RailVm): Hex {
  const account = { svm: solana, bvm: bitcoin, hypevm: solver }[vm];
  if (account === undefined)
    throw new RangeError(`invariant violated: no solver account for chains of type ${vm}`);
  return account;
}

function keyOn({ keys, solver }: Pick<WorkerConfig, "keys" | "solver">, vm: RailVm): Hex32 {
  const key = { svm: keys.solana, bvm: keys.bitcoin, hypevm: solver.privateKey }[vm];
  if (key === undefined) throw new RangeError(`invariant violated: no solver key for chains of type ${vm}`);
  return key.reveal() as Hex32;
}
