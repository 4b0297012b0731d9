import type { NonEvmVmType } from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import { createEndpointOrder } from "./nodes/endpoint-order.ts";
import { hostsOf } from "./nodes/hosts-of.ts";
import type { OpenConnection } from "./non-evm-connection.ts";
import { combineConnections, combineUsers } from "./non-evm-endpoints.ts";
import type { ConnectNonEvm, NonEvmOptions } from "./non-evm-options.ts";
import type { ConnectUsers, OpenNonEvmUsers, UsersOptions } from "./non-evm-users.ts";

export type { ConnectNonEvm, NonEvmOptions } from "./non-evm-options.ts";

/** Loads each family on demand: its libraries are imported only if one of its chains is configured. */
const loaders: Readonly<Record<NonEvmVmType, () => Promise<ConnectNonEvm>>> = {
  svm: async () => (await import("./solana/connection.ts")).connectSolana,
  bvm: async () => (await import("./bitcoin/connection.ts")).connectBitcoin,
  hypevm: async () => (await import("./hyperliquid/connection.ts")).connectHyperliquid,
};

/**
 * Connects to all endpoints of a chain: reads try them in order, and payments are sent to all. A quorum of
 * `rpcQuorum` endpoints decides which deposits count and what became of a payment.
 */
export async function connectNonEvm(options: NonEvmOptions): Promise<OpenConnection> {
  const connect = await loaders[options.chain.vmType]();
  const urls = urlsOf(options);
  const shared: Pick<NonEvmOptions, "sharedOutputs" | "sharedFeeSources"> =
    urls.length > 1 ? { sharedOutputs: new Map(), sharedFeeSources: [] } : {};
  const [first, ...others] = await Promise.all(
    urls.map(async (_, index) => await connect({ ...atEndpoint(options, index), ...shared })),
  );
  if (first === undefined) throw new RangeError(`chain ${options.chain.name}: httpRpcUrl names no endpoint`);
  const hosts = hostsOf(urls);
  return combineConnections([first, ...others], createEndpointOrder(hosts), {
    quorum: options.attestation.rpcQuorum,
    onDisagreement: (question, indexes) =>
      options.onDisagreement?.(
        question,
        indexes.flatMap((index) => hosts[index] ?? []),
      ),
    now: () => performance.now(),
    epochMs: () => options.now(),
  });
}

const usersLoaders: Readonly<Record<NonEvmVmType, () => Promise<ConnectUsers>>> = {
  svm: async () => (await import("./solana/users.ts")).connectSolanaUsers,
  bvm: async () => (await import("./bitcoin/users.ts")).connectBitcoinUsers,
  hypevm: async () => (await import("./hyperliquid/users.ts")).connectHyperliquidUsers,
};

/** Connects to the user's side of a chain; undefined if the chain's settings do not suffice. */
export async function connectNonEvmUsers(options: UsersOptions): Promise<OpenNonEvmUsers | undefined> {
  const connect = await usersLoaders[options.chain.vmType]();
  const urls = urlsOf(options);
  const users = await Promise.all(urls.map(async (_, index) => await connect(atEndpoint(options, index))));
  const [first, ...others] = users.filter((usersOfEndpoint) => usersOfEndpoint !== undefined);
  return first && combineUsers([first, ...others], createEndpointOrder(hostsOf(urls)));
}

function urlsOf({ chain: { rpcUrl, rpcUrls } }: UsersOptions): readonly string[] {
  return rpcUrls ?? [rpcUrl];
}

/** The options with the endpoint at this index moved to the front of every list. */
function atEndpoint<T extends UsersOptions>(options: T, index: number): T {
  const { chain, attestation } = options;
  const rpcUrl = chain.rpcUrls?.[index];
  if (rpcUrl === undefined) return options;
  return {
    ...options,
    chain: { ...chain, rpcUrl },
    attestation: attestationAtEndpoint(attestation, rpcUrl, index),
  };
}

/** The options of a connection to only the endpoint at this index. */
export function withOneEndpoint<T extends UsersOptions>(options: T, index: number): T {
  const withEndpointFirst = atEndpoint(options, index);
  const { rpcUrls: _, ...chain } = withEndpointFirst.chain;
  return {
    ...withEndpointFirst,
    chain,
    attestation: { ...withEndpointFirst.attestation, rpcUrls: [chain.rpcUrl], rpcQuorum: 1 },
  };
}

function attestationAtEndpoint(attestation: ConfiguredChain, rpcUrl: string, index: number): ConfiguredChain {
  const { hyperliquid, rpcUrls } = attestation;
  const explorerUrl = hyperliquid?.explorerUrls[index];
  return {
    ...attestation,
    rpcUrls: [rpcUrl, ...rpcUrls.filter((url) => url !== rpcUrl)],
    ...(hyperliquid !== undefined &&
      explorerUrl !== undefined && { hyperliquid: { ...hyperliquid, explorerUrls: [explorerUrl] } }),
  };
}
