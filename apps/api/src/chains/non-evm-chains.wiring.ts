import type { NonceMappings, OpenConnection, PayingConnection, NonEvmOptions } from "@causeway/chains";
import { connectNonEvm, connectNonEvmUsers } from "@causeway/chains";
import type { Hex, Hex32, NonEvmVmType } from "@causeway/domain";
import type { Lifecycle } from "@causeway/service-kit";
import type { ApiConfig, NonEvmChainConfig } from "../config/config.ts";
import { monotonicClock } from "../config/monotonic-clock.ts";
import type { WorkerKeys } from "../config/own-accounts.ts";
import type { Services } from "../db/services.port.ts";
import type { ConnectedNonEvmChain } from "./chains.port.ts";
import { withCapabilities } from "./chain-capabilities.ts";
import type { ObserveEndpoint } from "./observe-endpoint.port.ts";
import { createNonEvmPulse } from "./non-evm-pulse.adapter.ts";

/** Balances and costs expire after this many block times, but never sooner than the minimum. */
const MAX_AGE_BLOCKS = 3;
const MIN_MAX_AGE_MS = 60_000;
const REFRESH_MS = 10_000;
const MIN_PAUSE_MS = 2_000;
/** Pause between two reads of the solver's balances at an endpoint with a rate limit. */
const LIMITED_PAUSE_MS = 10_000;

interface NonEvmNeeds extends Pick<Services, "clock" | "events"> {
  readonly config: Pick<ApiConfig, "nonEvmChains" | "accounts">;
  readonly lifecycle: Lifecycle;
  readonly observeEndpoint: ObserveEndpoint;
  /** Whether this process serves clients (the API). */
  readonly answersClients: boolean;
}

/**
 * Connects the enabled non-EVM chains. The libraries of a chain family are loaded only if one of its chains
 * is enabled. A node that does not respond now is retried later.
 * @throws RangeError for a family that this build does not support
 */
export async function connectNonEvmChains(
  needs: NonEvmNeeds,
  nonceMappings: NonceMappings | undefined,
): Promise<readonly ConnectedNonEvmChain<OpenConnection>[]> {
  return await Promise.all(
    needs.config.nonEvmChains.map((config) => connectNonEvmChain(config, needs, nonceMappings)),
  );
}

async function connectNonEvmChain(
  { chain, attestation }: NonEvmChainConfig,
  { config, clock, events, lifecycle, answersClients, observeEndpoint }: NonEvmNeeds,
  nonceMappings: NonceMappings | undefined,
): Promise<ConnectedNonEvmChain<OpenConnection>> {
  const facts = { chain: chain.name };
  const options: NonEvmOptions = {
    chain,
    attestation,
    solver: solverAccountOn(config.accounts, chain.vmType),
    depositAddressKey: config.accounts.bitcoinDepositKey,
    nonceMappings,
    answersClients,
    observeEndpoint: (url: string) => observeEndpoint(chain.name, url),
    now: () => clock.nowMs(),
    onFault: (fault) => events.fault("chain_fault", fault, facts),
    onDisagreement: (question, endpoints) =>
      events.alarm("endpoints_disagree", { ...facts, question, endpoints: endpoints.join(", ") }),
  };
  const connection = await connectNonEvm(options);
  lifecycle.add(`non-EVM chain ${chain.name}`, () => connection.close());
  const pulse = createNonEvmPulse({
    chain,
    connection,
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
  const users = await connectNonEvmUsers(options);
  if (users !== undefined) lifecycle.add(`users of ${chain.name}`, () => users.close());
  return withCapabilities({ chain, connection, pulse, ...(users && { users }) });
}

/**
 * Adds the solver's keys to the connections of these chains.
 * @throws RangeError when a key is missing or belongs to a different account
 */
export async function withSolverKeys(
  chains: readonly ConnectedNonEvmChain<OpenConnection>[],
  keys: WorkerKeys,
): Promise<ConnectedNonEvmChain<PayingConnection>[]> {
  return await Promise.all(
    chains.map(async (connected) => ({
      ...connected,
      connection: await connected.connection.withKey(
        solverKeyOn(keys, connected.chain.vmType),
        keys.bitcoinDepositKey?.reveal(),
      ),
    })),
  );
}

/** On Hyperliquid the solver uses its EVM account. */
function solverAccountOn({ solver, solana, bitcoin }: ApiConfig["accounts"], vm: NonEvmVmType): Hex {
  const account = { svm: solana, bvm: bitcoin, hypevm: solver }[vm];
  if (account === undefined)
    throw new RangeError(`invariant violated: no solver account for chains of type ${vm}`);
  return account;
}

function solverKeyOn({ solver, solana, bitcoin }: WorkerKeys, vm: NonEvmVmType): Hex32 {
  const evmKey = solver.source.kind === "raw" ? solver.source.privateKey : undefined;
  const key = { svm: solana, bvm: bitcoin, hypevm: evmKey }[vm];
  if (key === undefined) throw new RangeError(`invariant violated: no solver key for chains of type ${vm}`);
  return key.reveal() as Hex32;
}
