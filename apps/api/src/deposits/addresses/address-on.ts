import { depositAddressOf } from "@causeway/domain";
import type { Chain } from "@causeway/domain";
import type { DepositAddress } from "./deposit-addresses.port.ts";

/**
 * Whether funds sent to this address on a chain can be moved: the chain's factory derives the same address.
 */
export function isAddressOn(
  { contracts }: Pick<Chain, "contracts">,
  { address, key }: Pick<DepositAddress, "address" | "key">,
): boolean {
  const factory = contracts.depositAddressFactory;
  return factory !== undefined && depositAddressOf(factory, key) === address;
}
