import { executionTypes, oracleDomain } from "@causeway/contracts";
import { arrayHash, keccak, keccakHex, keccakText, structWriter, toHex } from "@causeway/domain";
import type { AttestationHub, Hex, Hex32 } from "@causeway/domain";
import { typeHash } from "./struct-type.ts";

/** A list of hub actions that the hub applies atomically and at most once. */
export interface Execution {
  readonly idempotencyKey: Hex32;
  /** Encoded actions in order, see `encodeHubAction`. */
  readonly actions: readonly Hex[];
}

/** The chain, contract and EIP-712 domain for which executions are signed. */
export type SignedHub = Pick<AttestationHub, "chainId" | "oracleAddress" | "domain">;

const DOMAIN = keccakText(
  "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)",
);
const EXECUTION = typeHash(executionTypes, "Execution");
const executionWriter = structWriter(3);

/**
 * Creates the function that computes EIP-712 digests of executions for one hub, whose domain is hashed once.
 * @throws RangeError if the hub's address or an execution's key or action is malformed
 */
export function executionDigester(hub: SignedHub): (execution: Execution) => Hex32 {
  const domain = oracleDomain(hub.chainId, hub.oracleAddress, hub.domain);
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

/** Whether an answer contains the expected execution, with hex in any letter case. */
export function isSameExecution(
  expected: Execution,
  answered: { readonly idempotencyKey: string; readonly actions: readonly string[] },
): boolean {
  return (
    answered.idempotencyKey.toLowerCase() === expected.idempotencyKey &&
    answered.actions.length === expected.actions.length &&
    answered.actions.every((action, index) => action.toLowerCase() === expected.actions[index])
  );
}
