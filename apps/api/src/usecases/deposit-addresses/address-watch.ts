import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { ConnectedChain } from "../../ports/chains.ts";
import type { AddressServices } from "./address-services.ts";
import { lookAtAddresses } from "./look-at-addresses.ts";

/** Addresses that were given out, used or asked about within this time are looked at with every block; ms. */
export const YOUNG_MS = 24 * 3600_000;
/** Of those as many, the newest first. */
const MOST_YOUNG = 1_000;
/** Of all others as many with every block, in turns: the more there are, the longer a turn takes. Who cannot wait asks for a look. */
const QUIET_AT_ONCE = 200;

/** Looks at one chain's addresses, one round after the other. */
export interface AddressWatch {
  /** Looks once, at a block that the watcher has read. @throws RpcFault */
  look(atBlock: bigint): Promise<void>;
}

/** One for each chain, in the process that watches the chain. What it remembers only says where to go on. */
export function createAddressWatch(services: AddressServices, connected: ConnectedChain): AddressWatch {
  const { chain } = connected;
  const currencies = [NATIVE_CURRENCY, ...chain.tokens.map(({ address }) => address)];
  let lookedAt = new Map<Address, bigint>();
  // Somewhere: a process that is started often must not look at the same ones for ever.
  let after: Address = `0x${(services.clock.nowMs() % 256).toString(16).padStart(2, "0")}`;
  return {
    async look(atBlock) {
      if (chain.contracts.depositAddressFactory === undefined) return;
      const sinceMs = services.clock.nowMs() - YOUNG_MS;
      const [young, quiet] = await Promise.all([
        services.depositAddresses.active(sinceMs, MOST_YOUNG),
        services.depositAddresses.quiet(sinceMs, after, QUIET_AT_ONCE),
      ]);
      after = quiet.length < QUIET_AT_ONCE ? "0x" : (quiet.at(-1)?.address ?? "0x");
      const addresses = [...young, ...quiet];
      await lookAtAddresses(services, connected, { addresses, currencies, atBlock, lookedAt });
      lookedAt = new Map(addresses.map(({ address }) => [address, atBlock]));
    },
  };
}
