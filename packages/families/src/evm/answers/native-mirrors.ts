import type { Address } from "@causeway/domain";

/**
 * ZKsync's base token contract, which reports every transfer of the native token, including fees, as a
 * Transfer.
 */
const ZKSYNC_BASE_TOKEN: Address = "0x000000000000000000000000000000000000800a";
/**
 * The address from which the protocol reports native transfers as Transfers under EIP-7708, and other
 * addresses that drafts of the EIP used.
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
 * Addresses whose Transfers mirror native transfers and do not belong to a token. If they counted, one
 * deposit or payment would count twice.
 */
export function nativeMirrors(isZksyncStack: boolean): ReadonlySet<string> {
  return isZksyncStack ? onZksync : everywhere;
}
