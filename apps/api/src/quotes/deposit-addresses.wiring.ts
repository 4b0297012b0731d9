import { createCodeCache } from "../chains/code-cache.adapter.ts";
import type { ConnectedChain, ConnectedNonEvmChain } from "../chains/chains.port.ts";
import { pollFacts } from "../db/polled-facts.postgres.ts";
import { pooledRandomBytes } from "../db/pooled-bytes.adapter.ts";
import type { Services } from "../db/services.port.ts";
import { type AddressServices, createAddressWatch } from "../deposits/index.ts";
import type { Lifecycle } from "@causeway/service-kit";
import { agreeOn, type AgreeServices } from "./create-quote.ts";

/** Maximum age of the facts that quotes share. */
const POLLED_EVERY_MS = 1_000;

/** The dependencies of watching deposit addresses: the services, and how a new quote agrees on terms. */
export function addressServices(
  services: Services,
  quoting: Pick<AgreeServices, "reservations" | "recipientCodes" | "random">,
): AddressServices {
  const solver = services.signer.address;
  const agreeing: AgreeServices = { ...services, ...quoting, solver };
  return {
    ...services,
    random: quoting.random,
    solver,
    agreeOn: (input, keyId) => agreeOn(agreeing, input, keyId),
  };
}

/** A worker's tasks for deposit addresses. */
export interface AddressWork {
  /** Watches a chain's deposit addresses: called with each scanned block. */
  readonly watch: (connected: ConnectedChain) => (atBlock: bigint) => Promise<void>;
  /** Checks a non-EVM chain's deposit addresses: called whenever the chain changes. */
  readonly look: (connected: ConnectedNonEvmChain) => () => Promise<void>;
}

/** Watches deposit addresses. Does nothing if the instance has none. */
export async function startDepositAddresses(
  services: Services & { readonly lifecycle: Lifecycle },
): Promise<AddressWork> {
  const { chains, events, lifecycle, reads } = services;
  const hasTransferAddresses = chains.nonEvmChains.some(
    ({ connection }) => connection.depositAddresses !== undefined,
  );
  if (services.depositAddressOperator === undefined && !hasTransferAddresses)
    return { watch: () => async () => undefined, look: () => async () => undefined };
  const polled = await pollFacts(reads, events, POLLED_EVERY_MS);
  lifecycle.add("polled facts of deposit addresses", () => polled.close());
  const watching = addressServices(services, {
    reservations: { reserved: polled.reserved },
    recipientCodes: createCodeCache(chains),
    random: pooledRandomBytes(),
  });
  return {
    watch: (connected) => {
      const watch = createAddressWatch(watching, connected);
      if (services.depositAddressOperator === undefined) return async () => undefined;
      return (atBlock) => watch.look(atBlock);
    },
    look: (connected) => watchNewBlocks(watching, connected),
  };
}

/** Explorers may list payments later than the node: checks again after this part of a block time. */
const LOOK_AGAIN_PER_BLOCK = 5;
const MIN_LOOK_AGAIN_MS = 1_000;

/** Checks once per new block, and again while the block is the newest one. */
function watchNewBlocks(services: AddressServices, connected: ConnectedNonEvmChain): () => Promise<void> {
  const { chain, connection } = connected;
  const { depositAddresses } = connection;
  const watch = createAddressWatch(services, connected);
  const againMs = Math.max(MIN_LOOK_AGAIN_MS, (chain.blockTimeSeconds * 1000) / LOOK_AGAIN_PER_BLOCK);
  let last: { readonly hash: string; readonly atMs: number } | undefined;
  return async () => {
    if (depositAddresses === undefined) return;
    const { number, hash } = await depositAddresses.newest();
    const atMs = performance.now();
    if (hash === last?.hash && atMs - last.atMs < againMs) return;
    await watch.look(number);
    last = { hash, atMs };
  };
}
