import type { Address } from "@causeway/domain";

/** ZKsync's base token contract: it reports every transfer of the native token, also fees, as a Transfer. */
const ZKSYNC_BASE_TOKEN: Address = "0x000000000000000000000000000000000000800a";
/**
 * The address under which EIP-7708 lets the protocol itself report native transfers as Transfers, then the
 * other addresses that the EIP considers, or once did.
 */
const EIP_7708: readonly Address[] = [
  "0xfffffffffffffffffffffffffffffffffffffffe",
  "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
  "0x0000000000000000000000000000000000000000",
];

/**
 * The predeployed token of the first optimistic rollups (Metis, Mantle), which reports every native transfer.
 */
const OVM_BASE_TOKEN: Address = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000";

const everywhere: ReadonlySet<string> = new Set<string>([...EIP_7708, OVM_BASE_TOKEN]);
const onZksync: ReadonlySet<string> = new Set<string>([...everywhere, ZKSYNC_BASE_TOKEN]);

/**
 * Addresses whose Transfers repeat native transfers and belong to no token. If they counted, one deposit or
 * payment would count twice.
 */
export function nativeMirrors(isZksyncStack: boolean): ReadonlySet<string> {
  return isZksyncStack ? onZksync : everywhere;
}
