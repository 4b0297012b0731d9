import type { Lifecycle } from "@causeway/service-kit";
import type { EvmChain } from "../chains/chains.wiring.ts";
import type { TransferChain } from "../chains/chains.port.ts";
import type { Lead } from "../db/leadership.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { watchChain, type HeadWork } from "./watch-chain.job.ts";
import { watchNonEvm } from "./watch-non-evm.job.ts";

/**
 * Starts the watcher of every chain.
 * @param afterScan work that follows each scan of an EVM chain
 * @param scanAddresses scans the deposit addresses of a non-EVM chain
 */
export function startWatchers(
  services: WorkerServices & { readonly evmChains: readonly EvmChain[]; readonly lifecycle: Lifecycle },
  acquireLead: Lead,
  afterScan: (chain: EvmChain) => HeadWork,
  scanAddresses: (chain: TransferChain) => () => Promise<void>,
): void {
  const { lifecycle } = services;
  for (const connected of services.evmChains) {
    const watcher = watchChain(services, connected, acquireLead, afterScan(connected));
    lifecycle.add(`watcher of ${connected.chain.name}`, () => watcher.close());
  }
  for (const connected of services.chains.nonEvmChains) {
    const watcher = watchNonEvm(services, connected, acquireLead, scanAddresses(connected));
    lifecycle.add(`watcher of ${connected.chain.name}`, () => watcher.close());
  }
}
