import type { Address } from "../ids/hex.ts";
import type { ChainContracts } from "./chain.ts";

/**
 * Which of a chain's contracts are the service's own. Multicall3 and Permit2 are shared and give no account a
 * role.
 */
const isOwn = {
  depository: true,
  router: true,
  approvalProxy: true,
  serviceReceiver: true,
  depositAddressFactory: true,
  formerContracts: true,
  formerDepositories: true,
  multicall3: false,
  permit2: false,
} as const satisfies Record<keyof ChainContracts, boolean>;

/**
 * The service's own contracts on a chain, former ones included. An account of the service may have a role in
 * each (operator of a factory, relayer of signed routes), so no call made for a user may target one of them.
 */
export function serviceContracts(contracts: ChainContracts): ReadonlySet<Address> {
  const ownEntries = Object.entries(contracts).filter(([name]) => isOwn[name as keyof ChainContracts]);
  return new Set(
    ownEntries.flatMap(([, address]: readonly [string, Address | readonly Address[]]) => address),
  );
}
