import type { Address } from "@causeway/domain";

/** ZKsync's contract of the base coin: it reports every move of the native coin, also fees, as a Transfer. */
const ZKSYNC_BASE_TOKEN: Address = "0x000000000000000000000000000000000000800a";
/**
 * The address under which EIP-7708 lets the protocol itself report moves of the native coin as Transfers,
 * then the others that it considers, or once did.
 */
const EIP_7708: readonly Address[] = [
  "0xfffffffffffffffffffffffffffffffffffffffe",
  "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
  "0x0000000000000000000000000000000000000000",
];

/**
 * The first generation of optimistic rollups (Metis, Mantle): the predeployed token that every move of the
 * native token is reported by.
 */
const OVM_BASE_TOKEN: Address = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000";

const everywhere: ReadonlySet<string> = new Set<string>([...EIP_7708, OVM_BASE_TOKEN]);
const onZksync: ReadonlySet<string> = new Set<string>([...everywhere, ZKSYNC_BASE_TOKEN]);

/**
 * Addresses whose Transfers show the native coin once more and are no token's. Believed, they would count one
 * deposit or payment twice.
 */
export function nativeMirrors(isZksyncStack: boolean): ReadonlySet<string> {
  return isZksyncStack ? onZksync : everywhere;
}
