import type { Execution as UnsignedExecution, MappingEntry, SubmitWithdrawRequest } from "@causeway/attest";
import type { Hex32 } from "@causeway/domain";
import type { Execution, MappingSignature, MessageSignature, PayloadSignature } from "@causeway/wire";

/** The signatures of a message that only this oracle has signed. */
export interface OwnMessageSignatures {
  readonly signature: MessageSignature;
  readonly signatures: MessageSignature[];
}

/** Signs what this oracle has verified. @throws SignerUnavailable if the key is unreachable */
export interface AttestationSigner {
  signMessage(id: Hex32): Promise<OwnMessageSignatures>;
  signExecution(execution: UnsignedExecution): Promise<Execution>;
  /** Only for a hub with an allocator. */
  signWithdrawal(request: SubmitWithdrawRequest): Promise<PayloadSignature[]>;
  /** Only for a hub with a nonce mapping contract. */
  signMappingEntry(entry: MappingEntry): Promise<MappingSignature[]>;
}
