import { createCodeCache } from "../chains/code-cache.adapter.ts";
import type { ConnectedChain, ConnectedNonEvmChain } from "../chains/chains.port.ts";
import { pollFacts } from "../db/polled-facts.postgres.ts";
import { pooledRandomBytes } from "../db/pooled-bytes.adapter.ts";
import type { Services } from "../db/services.port.ts";
import { type AddressServices, createAddressWatch } from "../deposits/index.ts";
import type { Lifecycle } from "@causeway/service-kit";
import { quoteTerms, type TermsServices } from "./create-quote.ts";

/** How often the facts that quotes share are read. */
const POLL_INTERVAL_MS = 1_000;

/** The dependencies of watching deposit addresses, including how to agree on the terms of a new quote. */
export function addressServices(
  services: Services,
  quoting: Pick<TermsServices, "reservations" | "recipientCodes" | "random">,
): AddressServices {
  const solver = services.signer.address;
  const termsServices: TermsServices = { ...services, ...quoting, solver };
  return {
    ...services,
    random: quoting.random,
    solver,
    quoteTerms: (input, keyId) => quoteTerms(termsServices, input, keyId),
  };
}

/** A worker's tasks for deposit addresses. */
export interface AddressWork {
  /** Watches an EVM chain's deposit addresses. Call the result with each scanned block. */
  readonly watch: (connected: ConnectedChain) => (atBlock: bigint) => Promise<void>;
  /** Checks a non-EVM chain's deposit addresses. Call the result whenever the chain changes. */
  readonly check: (connected: ConnectedNonEvmChain) => () => Promise<void>;
}

/** Starts to watch deposit addresses. Does nothing if the instance has none. */
export async function startDepositAddresses(
  services: Services & { readonly lifecycle: Lifecycle },
): Promise<AddressWork> {
  const { chains, events, lifecycle, reads } = services;
  const hasTransferAddresses = chains.nonEvmChains.some(
    ({ connection }) => connection.depositAddresses !== undefined,
  );
  if (services.depositAddressOperator === undefined && !hasTransferAddresses)
    return { watch: () => async () => undefined, check: () => async () => undefined };
  const polled = await pollFacts({ reserved: () => reads.reserved() }, events, POLL_INTERVAL_MS);
  lifecycle.add("polled facts of deposit addresses", () => polled.close());
  const watchServices = addressServices(services, {
    reservations: { reserved: polled.reserved },
    recipientCodes: createCodeCache(chains),
    random: pooledRandomBytes(),
  });
  return {
    watch: (connected) => {
      const watch = createAddressWatch(watchServices, connected);
      if (services.depositAddressOperator === undefined) return async () => undefined;
      return (atBlock) => watch.scan(atBlock);
    },
    check: (connected) => watchNewBlocks(watchServices, connected),
  };
}

/**
 * Explorers may list payments later than the node, so each block is checked this many times per block time.
 */
const CHECKS_PER_BLOCK = 5;
const MIN_RECHECK_MS = 1_000;

/** Checks once per new block, and again while the block is the newest one. */
function watchNewBlocks(services: AddressServices, connected: ConnectedNonEvmChain): () => Promise<void> {
  const { chain, connection } = connected;
  const { depositAddresses } = connection;
  const watch = createAddressWatch(services, connected);
  const recheckMs = Math.max(MIN_RECHECK_MS, (chain.blockTimeSeconds * 1000) / CHECKS_PER_BLOCK);
  let last: { readonly hash: string; readonly atMs: number } | undefined;
  return async () => {
    if (depositAddresses === undefined) return;
    const { number, hash } = await depositAddresses.newest();
    const atMs = performance.now();
    if (hash === last?.hash && atMs - last.atMs < recheckMs) return;
    await watch.scan(number);
    last = { hash, atMs };
  };
}
