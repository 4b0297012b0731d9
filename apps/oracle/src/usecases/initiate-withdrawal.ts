import {
  initiationExecution,
  ownerAuthorizationDigest,
  recoverSigner,
  withdrawalAuthorization,
} from "@causeway/attest";
import type { AttestationRoute, Execution } from "@causeway/attest";
import type { Address } from "@causeway/domain";
import { withdrawalInitiationAnswer } from "@causeway/wire";
import type { WithdrawalInitiationAnswer, WithdrawalInitiationRequest } from "@causeway/wire";
import { invalid, rejected } from "../ports/attestation-error.ts";
import type { ParsedRequest } from "../ports/parsed-request.ts";
import type { AttestationServices } from "../ports/attestation-services.ts";
import { canonicalJson, canonicalValue } from "./canonical-json.ts";
import { requireChain } from "./require-chain.ts";
import { executionSignaturesOf, executionSlot, signedPart, unsignedExecution } from "./message-slots.ts";
import { assertConcludable, readWithdrawalOrder } from "./withdrawal-order.ts";

/**
 * Moves an amount from its owner's hub account to the address of one withdrawal, if the owner signed exactly
 * this withdrawal for this hub and depository and holds the amount.
 * @throws ServiceError INVALID_REQUEST and AttestationError for an invalid request
 */
export function initiateWithdrawal(services: AttestationServices) {
  const { chains, hub, hubReader, attestationSigner } = services;

  return (request: WithdrawalInitiationRequest): ParsedRequest<WithdrawalInitiationAnswer> => {
    const withdrawal = readWithdrawalOrder(services, request);
    const { requested, depository, amount, address } = withdrawal;
    assertAuthorized(services, request, depository);
    const execution = initiationExecution(hub.name, { ...requested, address }, amount);
    const message = { data: withdrawal.echo, result: { withdrawalAddress: address } };
    return {
      family: requireChain(chains, requested.fields.chainId, "chainId").chain.vmType,
      key: JSON.stringify([withdrawal.echo, request.signature]),
      signsNothing: () => false,
      async attest(signal): Promise<WithdrawalInitiationAnswer> {
        assertConcludable(services, withdrawal);
        const balance = await hubReader.balanceOf(requested.ownerAlias, requested.tokenId);
        if (balance < amount)
          throw rejected(
            "expectedAmount",
            `expectedAmount must be at most ${balance}, the withdrawer's hub balance, got ${amount}`,
          );
        signal.throwIfAborted();
        return { message, execution: await attestationSigner.signExecution(execution) };
      },
      route: initiationRoute(services, message, execution),
    };
  };
}

/** Only accounts with a key on an EVM chain can authorize: contract signatures cannot be verified here. */
function assertAuthorized(
  { chains, hub }: AttestationServices,
  request: WithdrawalInitiationRequest,
  depository: string,
): void {
  const withdrawerChain = requireChain(chains, request.withdrawerChainId, "withdrawerChainId").chain;
  if (withdrawerChain.evm === undefined)
    throw invalid("withdrawerChainId", "withdrawerChainId must be a chain of the family ethereum-vm");
  const digest = ownerAuthorizationDigest(withdrawalAuthorization(hub, depository, request));
  if (recoverSigner(digest, request.signature.toLowerCase()) !== request.withdrawer.toLowerCase())
    throw rejected("signature", "signature is not the withdrawer's signature of this withdrawal");
}

function initiationRoute(
  { hub, executionDigest }: AttestationServices,
  message: WithdrawalInitiationAnswer["message"] & { result: { withdrawalAddress: Address } },
  execution: Execution,
): AttestationRoute<WithdrawalInitiationAnswer> {
  const unsigned = (
    answer: Pick<WithdrawalInitiationAnswer, "message"> & { execution: Execution },
  ): unknown => canonicalValue({ message: answer.message, execution: answer.execution });
  // The request determines the whole payload: a peer can only add its signature.
  const expectedJson = (): string => canonicalJson(unsigned({ message, execution }));
  const unsignedAnswer = (answer: WithdrawalInitiationAnswer): unknown =>
    unsigned({ message: answer.message, execution: unsignedExecution(answer.execution) });
  return {
    path: "/attestations/withdrawal-initiation/v1",
    parse(json) {
      const parsed = withdrawalInitiationAnswer.safeParse(json);
      return parsed.success && canonicalJson(unsignedAnswer(parsed.data)) === expectedJson()
        ? { message, execution: signedPart(parsed.data.execution) }
        : undefined;
    },
    unsigned: unsignedAnswer,
    slots: (answer) => [executionSlot(hub, executionDigest, answer.execution)],
    withSignatures: (answer, slots) => ({
      ...answer,
      execution: { ...answer.execution, signatures: executionSignaturesOf(slots[0] ?? [], hub) },
    }),
  };
}
