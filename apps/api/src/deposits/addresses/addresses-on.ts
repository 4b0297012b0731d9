import type { AnyConnectedChain } from "../../chains/chains.port.ts";
import { perKind } from "../../http/connected-chain.ts";
import type { ChainAddresses } from "./chain-addresses.ts";
import { contractAddresses } from "./contract-addresses.ts";
import { transferAddresses } from "./transfer-addresses.ts";

const addressesByChain = new WeakMap<AnyConnectedChain, ChainAddresses>();

/** The deposit addresses of a chain; created once per chain. */
export function addressesOn(connected: AnyConnectedChain): ChainAddresses {
  const addresses =
    addressesByChain.get(connected) ??
    perKind(connected, { evm: contractAddresses, nonEvm: transferAddresses });
  addressesByChain.set(connected, addresses);
  return addresses;
}
