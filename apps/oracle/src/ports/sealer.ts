import type { Execution as UnsignedExecution, SetEntry, SubmitWithdrawRequest } from "@causeway/attest";
import type { Hex32 } from "@causeway/domain";
import type { Execution, MappingSignature, MessageSignature, PayloadSignature } from "@causeway/wire";

/** The signatures that a message carries when only this oracle has signed it. */
export interface OwnMessageSignatures {
  readonly signature: MessageSignature;
  readonly signatures: MessageSignature[];
}

/** Signs what this oracle has established. @throws SignerUnavailable when the key cannot be reached. */
export interface Sealer {
  message(id: Hex32): Promise<OwnMessageSignatures>;
  execution(execution: UnsignedExecution): Promise<Execution>;
  /** Only for a hub that has an allocator. */
  withdrawal(request: SubmitWithdrawRequest): Promise<PayloadSignature[]>;
  /** Only for a hub that has a mapping. */
  entry(entry: SetEntry): Promise<MappingSignature[]>;
}
