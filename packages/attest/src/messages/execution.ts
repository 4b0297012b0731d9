import { arrayHash, keccak, keccakHex, keccakText, structWriter, toHex } from "@causeway/domain";
import type { Address, Hex, Hex32 } from "@causeway/domain";
import { typeHash } from "./struct-type.ts";

/** A change of the hub that happens once: all actions, or none. */
export interface Execution {
  readonly idempotencyKey: Hex32;
  /** Encoded actions in order, see `encodeHubAction`. */
  readonly actions: readonly Hex[];
}

/** The chain and contract that an execution is signed for. */
export interface ExecutionDomain {
  readonly name: string;
  readonly version: string;
  /** EVM chain id of the hub. */
  readonly chainId: number;
  readonly verifyingContract: Address;
}

/** EIP-712 types of an execution, as plain data. */
export const executionTypes = {
  Execution: [
    { name: "idempotencyKey", type: "bytes32" },
    { name: "actions", type: "bytes[]" },
  ],
} as const;

const DOMAIN = keccakText(
  "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)",
);
const EXECUTION = typeHash(executionTypes, "Execution");
const executionWriter = structWriter(3);

/**
 * Creates the function that computes EIP-712 digests of executions for one domain, which is hashed once.
 * @throws RangeError if the domain's address or an execution's key or action is malformed
 */
export function executionDigester(domain: ExecutionDomain): (execution: Execution) => Hex32 {
  const separator = structWriter(5)
    .start(DOMAIN)
    .word(keccakText(domain.name))
    .word(keccakText(domain.version))
    .uint256(BigInt(domain.chainId))
    .address(domain.verifyingContract)
    .hash();
  const signed = Uint8Array.of(0x19, 0x01, ...separator, ...new Uint8Array(32));
  return ({ idempotencyKey, actions }) => {
    signed.set(
      executionWriter.start(EXECUTION).bytes32(idempotencyKey).word(arrayHash(actions, keccakHex)).hash(),
      34,
    );
    return toHex(keccak(signed));
  };
}
