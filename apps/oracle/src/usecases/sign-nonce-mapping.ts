import { nonceMappingDigest, nonceMappingEntry, recoverSigner, setEntryDigest } from "@causeway/attest";
import type { AttestationRoute, MappingEntry } from "@causeway/attest";
import { HYPERLIQUID_WALLET_CHAIN } from "@causeway/domain";
import type { Address, AttestationHub, Hex32 } from "@causeway/domain";
import { nonceMappingAnswer } from "@causeway/wire";
import type { NonceMappingAnswer, NonceMappingRequest } from "@causeway/wire";
import { invalid, notFound, rejected } from "../ports/attestation-error.ts";
import type { ParsedRequest } from "../ports/parsed-request.ts";
import type { AttestationServices } from "../ports/attestation-services.ts";
import { canonicalJson, canonicalValue } from "./canonical-json.ts";
import { requireChain } from "./require-chain.ts";

/** Chain adapters read an id that starts with these 16 bytes as no id. */
const NO_ID = `0x${"00".repeat(16)}`;

/**
 * Attests "the wallet signed this nonce mapping": the entry for the hub's mapping contract. Needs no chain,
 * only the wallet's signature. A wallet may sign several ids for one nonce; the hub keeps the first that is
 * submitted.
 * Only for accounts with a key: contract signatures cannot be verified here.
 * @throws ServiceError INVALID_REQUEST and AttestationError for an invalid request
 */
export function signNonceMapping({
  chains,
  hub,
  attestationSigner,
}: Pick<AttestationServices, "chains" | "hub" | "attestationSigner">) {
  return (request: NonceMappingRequest): ParsedRequest<NonceMappingAnswer> => {
    const { chain } = requireChain(chains, request.walletChainId, "walletChainId");
    if (chain.hyperliquid === undefined)
      throw invalid("walletChainId", "walletChainId must be a chain whose transfers carry no order id");
    const contract = hub.genericMappingAddress;
    if (contract === undefined)
      throw notFound("walletChainId", "the hub of this oracle does not store nonce mappings");
    const mapping = {
      wallet: request.wallet.toLowerCase() as Address,
      depositor: request.depositor.toLowerCase() as Address,
      id: request.id.toLowerCase() as Hex32,
      nonce: BigInt(request.nonce),
    };
    if (mapping.id.startsWith(NO_ID))
      throw invalid("id", "id must be an order id: its first 16 bytes must not all be zero");
    const digest = nonceMappingDigest({
      ...mapping,
      walletChain: HYPERLIQUID_WALLET_CHAIN,
      signatureChainId: request.signatureChainId,
    });
    if (recoverSigner(digest, request.signature.toLowerCase()) !== mapping.wallet)
      throw rejected("signature", "signature is not the wallet's signature of this mapping");
    const entry = nonceMappingEntry(chain.name, mapping);
    return {
      family: chain.vmType,
      key: JSON.stringify([entry, digest]),
      signsNothing: () => false,
      async attest(signal) {
        signal.throwIfAborted();
        return { genericMapping: { ...entry, signatures: await attestationSigner.signMappingEntry(entry) } };
      },
      route: mappingRoute(hub, contract, entry),
    };
  };
}

function mappingRoute(
  hub: AttestationHub,
  contract: Address,
  entry: MappingEntry,
): AttestationRoute<NonceMappingAnswer> {
  const domain = `${hub.chainId}:${contract}`;
  // The request determines the whole entry: a peer can only add its signature.
  const expectedJson = canonicalJson(canonicalValue(entry));
  const unsigned = ({ genericMapping: { signatures: _, ...rest } }: NonceMappingAnswer): unknown =>
    canonicalValue(rest);
  return {
    path: "/attestations/signatures/nonce-mapping/v2",
    parse(json) {
      const parsed = nonceMappingAnswer.safeParse(json);
      if (!parsed.success || canonicalJson(unsigned(parsed.data)) !== expectedJson) return undefined;
      return { genericMapping: { ...entry, signatures: parsed.data.genericMapping.signatures } };
    },
    unsigned,
    slots: ({ genericMapping: { signatures } }) => [
      {
        digest: setEntryDigest({ chainId: hub.chainId, verifyingContract: contract }, entry),
        domain,
        signatures: signatures
          .filter(
            (signature) =>
              `${signature.mappingChainId}:${signature.mappingContract.toLowerCase()}` === domain,
          )
          .map(({ oracleSigner, signature }) => ({
            signer: oracleSigner.toLowerCase(),
            signature: signature.toLowerCase(),
          })),
      },
    ],
    withSignatures: (answer, slots) => ({
      ...answer,
      genericMapping: {
        ...entry,
        signatures: (slots[0] ?? []).map(({ signer, signature }) => ({
          mappingChainId: String(hub.chainId),
          mappingContract: contract,
          oracleSigner: signer,
          signature,
        })),
      },
    }),
  };
}
