import type { RequestEnd } from "../../chains/chains.port.ts";
import { perKind } from "../../http/request-end.ts";
import type { ChainAddresses } from "./chain-addresses.ts";
import { contractAddresses } from "./contract-addresses.ts";
import { transferAddresses } from "./transfer-addresses.ts";

const addressesByEnd = new WeakMap<RequestEnd, ChainAddresses>();

/** The deposit addresses of a chain; created once per chain. */
export function addressesOn(end: RequestEnd): ChainAddresses {
  const addresses =
    addressesByEnd.get(end) ?? perKind(end, { evm: contractAddresses, nonEvm: transferAddresses });
  addressesByEnd.set(end, addresses);
  return addresses;
}
