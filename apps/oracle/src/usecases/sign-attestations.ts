import {
  executionDigester,
  messageDigest,
  setEntryDigest,
  signatureToHex,
  submitWithdrawRequestDigest,
} from "@causeway/attest";
import type { Signer } from "@causeway/attest";
import type { AttestationHub, Hex, Hex32 } from "@causeway/domain";
import type { AttestationSigner } from "../ports/attestation-signer.ts";

/** Signs with one key for one hub. Calls `onSigned` after every attempt. */
export function createAttestationSigner(
  signer: Signer,
  hub: AttestationHub,
  onSigned: (isSuccessful: boolean) => void,
): AttestationSigner {
  const executionDigest = executionDigester(hub);
  const sign = async (digest: Hex32): Promise<Hex> => {
    try {
      const signature = signatureToHex(await signer.signDigest(digest));
      onSigned(true);
      return signature;
    } catch (error) {
      onSigned(false);
      throw error;
    }
  };
  return {
    async signMessage(id) {
      const messageSignature = { oracle: signer.address, signature: await sign(messageDigest(id)) };
      return { signature: messageSignature, signatures: [messageSignature] };
    },
    async signExecution(execution) {
      return {
        idempotencyKey: execution.idempotencyKey,
        actions: [...execution.actions],
        signatures: [
          {
            oracleChainId: String(hub.chainId),
            oracleContract: hub.oracleAddress,
            oracleSigner: signer.address,
            signature: await sign(executionDigest(execution)),
          },
        ],
      };
    },
    async signWithdrawal(request) {
      if (hub.allocatorAddress === undefined)
        throw new TypeError("invariant violated: hub without allocatorAddress");
      const domain = { chainId: hub.chainId, verifyingContract: hub.allocatorAddress };
      return [
        {
          allocatorSpenderChainId: String(hub.chainId),
          allocatorSpenderContract: hub.allocatorAddress,
          oracleSigner: signer.address,
          signature: await sign(submitWithdrawRequestDigest(domain, request)),
        },
      ];
    },
    async signMappingEntry(entry) {
      if (hub.genericMappingAddress === undefined)
        throw new TypeError("invariant violated: hub without genericMappingAddress");
      const domain = { chainId: hub.chainId, verifyingContract: hub.genericMappingAddress };
      return [
        {
          mappingChainId: String(hub.chainId),
          mappingContract: hub.genericMappingAddress,
          oracleSigner: signer.address,
          signature: await sign(setEntryDigest(domain, entry)),
        },
      ];
    },
  };
}
