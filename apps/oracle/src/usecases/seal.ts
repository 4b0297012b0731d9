import {
  executionDigester,
  messageDigest,
  setEntryDigest,
  signatureToHex,
  submitWithdrawRequestDigest,
} from "@causeway/attest";
import type { Signer } from "@causeway/attest";
import type { AttestationHub, Hex, Hex32 } from "@causeway/domain";
import type { Sealer } from "../ports/sealer.ts";

/** Signs with one key for one hub. Calls `onSigned` for every attempt. */
export function createSealer(signer: Signer, hub: AttestationHub, onSigned: (ok: boolean) => void): Sealer {
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
    async message(id) {
      const own = { oracle: signer.address, signature: await sign(messageDigest(id)) };
      return { signature: own, signatures: [own] };
    },
    async execution(execution) {
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
    async withdrawal(request) {
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
    async entry(entry) {
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
