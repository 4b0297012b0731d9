import type { RequestEnd } from "../../chains/chains.port.ts";
import { perKind } from "../../http/request-end.ts";
import type { ChainAddresses } from "./chain-addresses.ts";
import { contractAddresses } from "./contract-addresses.ts";
import { transferAddresses } from "./transfer-addresses.ts";

const known = new WeakMap<RequestEnd, ChainAddresses>();

/** Made once per chain. */
export function addressesOn(end: RequestEnd): ChainAddresses {
  const addresses = known.get(end) ?? perKind(end, { evm: contractAddresses, nonEvm: transferAddresses });
  known.set(end, addresses);
  return addresses;
}
