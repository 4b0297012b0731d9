import { messageDigest } from "@causeway/attest";
import type { ClaimedSignature, Execution as Unsigned, SignatureSlot } from "@causeway/attest";
import type { AttestationHub, Hex, Hex32 } from "@causeway/domain";
import type { Execution, ExecutionSignature, MessageSignature } from "@causeway/wire";

/** The slot of a message: EIP-191 over its id, without a domain. */
export function messageSlot(id: Hex32, signatures: readonly MessageSignature[]): SignatureSlot {
  return {
    digest: messageDigest(id),
    domain: "",
    signatures: signatures.map(({ oracle, signature }) => ({
      signer: oracle.toLowerCase(),
      signature: signature.toLowerCase(),
    })),
  };
}

/** The domain that executions are signed for, as text. */
export function executionDomain(hub: AttestationHub): string {
  return `${hub.chainId}:${hub.oracleAddress}`;
}

/** The slot of an execution. Signatures for another chain or contract do not count. */
export function executionSlot(
  hub: AttestationHub,
  digest: (execution: Unsigned) => Hex32,
  execution: Execution,
): SignatureSlot {
  const domain = executionDomain(hub);
  return {
    digest: digest(unsignedExecution(execution)),
    domain,
    signatures: execution.signatures
      .filter(
        (signature) => `${signature.oracleChainId}:${signature.oracleContract.toLowerCase()}` === domain,
      )
      .map(({ oracleSigner, signature }) => ({
        signer: oracleSigner.toLowerCase(),
        signature: signature.toLowerCase(),
      })),
  };
}

/** The signed part of an execution, in canonical hex. */
export function unsignedExecution({
  idempotencyKey,
  actions,
}: Pick<Execution, "idempotencyKey" | "actions">): Unsigned {
  return {
    idempotencyKey: idempotencyKey.toLowerCase() as Hex32,
    actions: actions.map((action) => action.toLowerCase() as Hex),
  };
}

/** A peer's execution reduced to what signatures cover; the rest is not passed on. */
export function signedPart(execution: Execution): Execution {
  const { idempotencyKey, actions } = unsignedExecution(execution);
  return { idempotencyKey, actions: [...actions], signatures: execution.signatures };
}

/**
 * The signatures of a message in answer format. `localSigner` is this oracle's address: its signature, if
 * present, is the one in `signature`.
 */
export function messageSignaturesOf(
  claimed: readonly ClaimedSignature[],
  localSigner: string,
): { readonly signature?: MessageSignature; readonly signatures: MessageSignature[] } {
  const signatures = claimed.map(({ signer, signature }) => ({ oracle: signer, signature }));
  const first = signatures.find(({ oracle }) => oracle === localSigner) ?? signatures[0];
  return first === undefined ? { signatures } : { signature: first, signatures };
}

/** The signatures of an execution in answer format. */
export function executionSignaturesOf(
  claimed: readonly ClaimedSignature[],
  hub: AttestationHub,
): ExecutionSignature[] {
  return claimed.map(({ signer, signature }) => ({
    oracleChainId: String(hub.chainId),
    oracleContract: hub.oracleAddress,
    oracleSigner: signer,
    signature,
  }));
}
