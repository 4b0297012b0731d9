import type { Address } from "../ids/hex.ts";
import type { ChainContracts } from "./chain.ts";

/**
 * Which of a chain's contracts are the service's own; Multicall3 and Permit2 are everybody's and know no
 * account.
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
 * The service's own contracts on a chain, those of the past among them. An account of the service may have a
 * role in each: operator of a factory, relayer of signed routes. So no call that is made for others may have
 * such an account call one of them. Pure.
 */
export function serviceContracts(contracts: ChainContracts): ReadonlySet<Address> {
  const own = Object.entries(contracts).filter(([name]) => isOwn[name as keyof ChainContracts]);
  return new Set(own.flatMap(([, address]: readonly [string, Address | readonly Address[]]) => address));
}
