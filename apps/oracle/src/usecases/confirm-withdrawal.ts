import { submitWithdrawRequestDigest, withdrawRequestOf } from "@causeway/attest";
import type { AttestationRoute, SubmitWithdrawRequest } from "@causeway/attest";
import type { AttestationHub, Hex, Hex32 } from "@causeway/domain";
import { withdrawalInitiatedAnswer } from "@causeway/wire";
import type { PayloadParams, WithdrawalInitiatedAnswer, WithdrawalInitiatedRequest } from "@causeway/wire";
import { rejected } from "../ports/attestation-error.ts";
import type { ParsedRequest } from "../ports/parsed-request.ts";
import type { AttestationServices } from "../ports/attestation-services.ts";
import { canonicalJson, canonicalValue } from "./canonical-json.ts";
import { assertConcludable, readWithdrawalOrder } from "./withdrawal-order.ts";
import type { WithdrawalOrder } from "./withdrawal-order.ts";

/**
 * Attests "the address of this withdrawal holds the amount", which the allocator requires before it creates a
 * payload. Only the amount is signed.
 * It attests at least the amount: anyone may send more to the address, and dust must not block a withdrawal.
 * Anyone can therefore get a smaller amount confirmed; the allocator must record only the amount that the
 * owner requested.
 * @throws ServiceError INVALID_REQUEST and AttestationError for an invalid request
 */
export function confirmWithdrawal(services: AttestationServices) {
  const { hub, hubReader, attestationSigner } = services;

  return (request: WithdrawalInitiatedRequest): ParsedRequest<WithdrawalInitiatedAnswer> => {
    const withdrawal = readWithdrawalOrder(services, request);
    const { requested, amount, address } = withdrawal;
    const submitRequest = submitRequestOf(withdrawal);
    const unsigned: WithdrawalInitiatedAnswer = {
      message: {
        data: withdrawal.echo,
        result: { proofOfWithdrawalAddressBalance: balanceProof(withdrawal), withdrawalAddress: address },
      },
    };
    return {
      family: requested.chain.vmType,
      key: JSON.stringify(withdrawal.echo),
      signsNothing: ({ payloadParams }) => payloadParams === undefined,
      async attest(signal): Promise<WithdrawalInitiatedAnswer> {
        assertConcludable(services, withdrawal);
        const balance = await hubReader.balanceOf(address, requested.tokenId);
        if (balance < amount)
          throw rejected(
            "expectedAmount",
            `expectedAmount must be at most ${balance}, the hub balance of the withdrawal address, got ${amount}`,
          );
        if (hub.allocatorAddress === undefined) return unsigned;
        signal.throwIfAborted();
        return {
          ...unsigned,
          payloadParams: {
            ...wireParams(submitRequest),
            signatures: await attestationSigner.signWithdrawal(submitRequest),
          },
        };
      },
      route: initiatedRoute(hub, unsigned, submitRequest),
    };
  };
}

function submitRequestOf({ requested, depository, amount, address }: WithdrawalOrder): SubmitWithdrawRequest {
  const { currency, recipient, withdrawalNonce: nonce } = requested.fields;
  const { hubChainId } = requested.chain;
  return withdrawRequestOf({ hubChainId, depository, currency, recipient, nonce, address, amount });
}

function wireParams(submitRequest: SubmitWithdrawRequest): Omit<PayloadParams, "signatures"> {
  const { chainId, receiver, amount, ...rest } = submitRequest;
  return { ...rest, chainId: chainId.toString(), amount: amount.toString(), recipient: receiver };
}

/** Address, amount and nonce, concatenated. */
function balanceProof({ requested, amount, address }: WithdrawalOrder): Hex {
  const nonce: Hex32 = requested.fields.withdrawalNonce;
  return `${address}${amount.toString(16).padStart(64, "0")}${nonce.slice(2)}`;
}

function initiatedRoute(
  hub: AttestationHub,
  expected: WithdrawalInitiatedAnswer,
  submitRequest: SubmitWithdrawRequest,
): AttestationRoute<WithdrawalInitiatedAnswer> {
  const { allocatorAddress } = hub;
  const params = allocatorAddress === undefined ? null : wireParams(submitRequest);
  // The request determines the whole payload: a peer can only add its signature.
  const expectedJson = (): string => canonicalJson({ message: expected.message, payloadParams: params });
  const unsigned = ({ message, payloadParams }: WithdrawalInitiatedAnswer): unknown => {
    if (payloadParams === undefined) return canonicalValue({ message, payloadParams: null });
    const { signatures: _, ...rest } = payloadParams;
    return canonicalValue({ message, payloadParams: rest });
  };
  const domain = `${hub.chainId}:${allocatorAddress ?? ""}`;
  return {
    path: "/attestations/withdrawal-initiated/v1",
    parse(json) {
      const parsed = withdrawalInitiatedAnswer.safeParse(json);
      if (!parsed.success || canonicalJson(unsigned(parsed.data)) !== expectedJson()) return undefined;
      const { payloadParams } = parsed.data;
      return payloadParams === undefined || params === null
        ? expected
        : { ...expected, payloadParams: { ...params, signatures: payloadParams.signatures } };
    },
    unsigned,
    slots: ({ payloadParams }) =>
      payloadParams === undefined || allocatorAddress === undefined
        ? []
        : [
            {
              digest: submitWithdrawRequestDigest(
                { chainId: hub.chainId, verifyingContract: allocatorAddress },
                submitRequest,
              ),
              domain,
              signatures: payloadParams.signatures
                .filter(
                  (payloadSignature) =>
                    `${payloadSignature.allocatorSpenderChainId}:${payloadSignature.allocatorSpenderContract.toLowerCase()}` ===
                    domain,
                )
                .map(({ oracleSigner, signature }) => ({
                  signer: oracleSigner.toLowerCase(),
                  signature: signature.toLowerCase(),
                })),
            },
          ],
    withSignatures: (answer, slots) =>
      answer.payloadParams === undefined || allocatorAddress === undefined
        ? answer
        : {
            ...answer,
            payloadParams: {
              ...answer.payloadParams,
              signatures: (slots[0] ?? []).map(({ signer, signature }) => ({
                allocatorSpenderChainId: String(hub.chainId),
                allocatorSpenderContract: allocatorAddress,
                oracleSigner: signer,
                signature,
              })),
            },
          },
  };
}
