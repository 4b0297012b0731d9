import type { Execution } from "@causeway/attest";
import type { AttestationHub, Hex32 } from "@causeway/domain";
import type { AttestedChains } from "./attested-chains.ts";
import type { HubReader } from "./hub-reader.ts";
import type { AttestationSigner } from "./attestation-signer.ts";

/** Dependencies of every attestation. */
export interface AttestationServices {
  readonly chains: AttestedChains;
  readonly hub: AttestationHub;
  readonly hubReader: HubReader;
  readonly attestationSigner: AttestationSigner;
  /** EIP-712 digest of an execution for this hub. */
  readonly executionDigest: (execution: Execution) => Hex32;
}
