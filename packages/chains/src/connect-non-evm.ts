import type { NonEvmVmType } from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import { createEndpointOrder } from "./nodes/endpoint-order.ts";
import { hostsOf } from "./nodes/hosts-of.ts";
import type { OpenConnection } from "./non-evm-connection.ts";
import { connectedTogether, usersTogether } from "./non-evm-endpoints.ts";
import type { ConnectNonEvm, NonEvmOptions } from "./non-evm-options.ts";
import type { ConnectUsers, OpenNonEvmUsers, UsersOptions } from "./non-evm-users.ts";

export type { ConnectNonEvm, NonEvmOptions } from "./non-evm-options.ts";

/** Loads each family on demand: its libraries are imported only if one of its chains is configured. */
const loaders: Readonly<Record<NonEvmVmType, () => Promise<ConnectNonEvm>>> = {
  svm: async () => (await import("./solana/connection.ts")).connectSolana,
  bvm: async () => (await import("./bitcoin/connection.ts")).connectBitcoin,
  hypevm: async () => (await import("./hyperliquid/connection.ts")).connectExchange,
};

/**
 * Connects to all endpoints of a chain: reads try them in order, and payments are sent to all. A quorum of
 * `rpcQuorum` endpoints decides which deposits count and what became of a payment.
 */
export async function connectNonEvm(options: NonEvmOptions): Promise<OpenConnection> {
  const create = await loaders[options.chain.vmType]();
  const urls = urlsOf(options);
  const shared: Pick<NonEvmOptions, "sharedOutputs" | "sharedFeeSources"> =
    urls.length > 1 ? { sharedOutputs: new Map(), sharedFeeSources: [] } : {};
  const [first, ...others] = await Promise.all(
    urls.map(async (_, at) => await create({ ...atEndpoint(options, at), ...shared })),
  );
  if (first === undefined) throw new RangeError(`chain ${options.chain.name}: httpRpcUrl names no endpoint`);
  const hosts = hostsOf(urls);
  return connectedTogether([first, ...others], createEndpointOrder(hosts), {
    quorum: options.attestation.rpcQuorum,
    onDisagreement: (question, places) =>
      options.onDisagreement?.(
        question,
        places.flatMap((place) => hosts[place] ?? []),
      ),
    now: () => performance.now(),
    epochMs: () => options.now(),
  });
}

const usersLoaders: Readonly<Record<NonEvmVmType, () => Promise<ConnectUsers>>> = {
  svm: async () => (await import("./solana/users.ts")).connectSolanaUsers,
  bvm: async () => (await import("./bitcoin/users.ts")).connectBitcoinUsers,
  hypevm: async () => (await import("./hyperliquid/users.ts")).connectExchangeUsers,
};

/** Connects to the user's side of a chain; undefined if the chain's settings do not suffice. */
export async function connectNonEvmUsers(options: UsersOptions): Promise<OpenNonEvmUsers | undefined> {
  const connect = await usersLoaders[options.chain.vmType]();
  const urls = urlsOf(options);
  const users = await Promise.all(urls.map(async (_, at) => await connect(atEndpoint(options, at))));
  const [first, ...others] = users.filter((one) => one !== undefined);
  return first && usersTogether([first, ...others], createEndpointOrder(hostsOf(urls)));
}

function urlsOf({ chain: { rpcUrl, rpcUrls } }: UsersOptions): readonly string[] {
  return rpcUrls ?? [rpcUrl];
}

/** The options with the endpoint at this index moved to the front of every list. */
function atEndpoint<T extends UsersOptions>(options: T, at: number): T {
  const { chain, attestation } = options;
  const rpcUrl = chain.rpcUrls?.[at];
  if (rpcUrl === undefined) return options;
  return { ...options, chain: { ...chain, rpcUrl }, attestation: firstAt(attestation, rpcUrl, at) };
}

/** The options of a connection to only the endpoint at this index. */
export function withOneEndpoint<T extends UsersOptions>(options: T, at: number): T {
  const only = atEndpoint(options, at);
  const { rpcUrls: _, ...chain } = only.chain;
  return {
    ...only,
    chain,
    attestation: { ...only.attestation, rpcUrls: [chain.rpcUrl], rpcQuorum: 1 },
  };
}

function firstAt(attestation: ConfiguredChain, rpcUrl: string, at: number): ConfiguredChain {
  const { hyperliquid, rpcUrls } = attestation;
  const explorerUrl = hyperliquid?.explorerUrls[at];
  return {
    ...attestation,
    rpcUrls: [rpcUrl, ...rpcUrls.filter((url) => url !== rpcUrl)],
    ...(hyperliquid !== undefined &&
      explorerUrl !== undefined && { hyperliquid: { ...hyperliquid, explorerUrls: [explorerUrl] } }),
  };
}
