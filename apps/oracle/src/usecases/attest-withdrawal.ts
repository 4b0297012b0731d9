import {
  decodeHubAction,
  depositoryWithdrawalId,
  isSameExecution,
  WITHDRAWAL_STATUS,
  withdrawalExecution,
} from "@causeway/attest";
import type { AttestationRoute } from "@causeway/attest";
import type { WithdrawalAnswer } from "@causeway/chains";
import { decodeEvmCallRequest, type Hex, type Hex32 } from "@causeway/domain";
import { canonicalTransactionId } from "@causeway/families";
import { withdrawalAttestationAnswer } from "@causeway/wire";
import type { WithdrawalAttestationAnswer, WithdrawalAttestationRequest } from "@causeway/wire";
import { invalid, rejected } from "../ports/attestation-error.ts";
import type { ParsedRequest } from "../ports/parsed-request.ts";
import type { AttestationServices } from "../ports/attestation-services.ts";
import { canonicalJson, canonicalValue } from "./canonical-json.ts";
import { finalValue } from "./final-value.ts";
import { readHubWithdrawal } from "./hub-withdrawal.ts";
import type { HubWithdrawal } from "./hub-withdrawal.ts";
import { evidenceOf, familyOf, requireChain, requireDepository } from "./require-chain.ts";
import {
  executionSignaturesOf,
  executionSlot,
  messageSignaturesOf,
  messageSlot,
  signedPart,
  unsignedExecution,
} from "./message-slots.ts";

type Message = Pick<WithdrawalAttestationAnswer["message"], "data" | "result">;

/**
 * Attests "this payload was executed", which burns the amount paid, or "it can never be executed", which
 * returns the amount to its owner on the hub. Signs nothing while neither is certain.
 * A payload does not name its withdrawal: the allocator's record does. On a hub without an allocator, an
 * execution counts for the withdrawal address in the payload's nonce, and an expiry is never attested,
 * because another payload of the withdrawal might still be executed.
 * @throws ServiceError INVALID_REQUEST and AttestationError for an invalid request
 */
export function attestWithdrawal(services: AttestationServices, localSigner: string) {
  const { chains } = services;
  const family = familyOf(chains);

  return (request: WithdrawalAttestationRequest): ParsedRequest<WithdrawalAttestationAnswer> => {
    const attestedChain = requireChain(chains, request.chainId, "chainId");
    const { chain } = attestedChain;
    const requested = readHubWithdrawal(
      chains,
      request.withdrawalAddressRequest,
      "withdrawalAddressRequest.",
    );
    if (requested.chain.name !== chain.name)
      throw invalid(
        "withdrawalAddressRequest.chainId",
        "withdrawalAddressRequest.chainId must be the chain of the withdrawal",
      );
    const payload = request.withdrawal.toLowerCase() as Hex;
    const hint =
      request.transactionId === undefined
        ? undefined
        : canonicalTransactionId(chain.vmType, request.transactionId);
    const data: Message["data"] = {
      chainId: chain.name,
      withdrawal: payload,
      withdrawalAddressRequest: requested.fields,
    };
    const idOf = ({ result }: Message): Hex32 =>
      depositoryWithdrawalId(family, {
        data: { chainId: chain.name, withdrawal: payload },
        result: { ...result, withdrawalId: result.withdrawalId.toLowerCase() as Hex32 },
      });
    return {
      family: chain.vmType,
      key: JSON.stringify([data, hint]),
      signsNothing: ({ execution }) => execution === undefined,
      async attest(signal): Promise<WithdrawalAttestationAnswer> {
        requireDepository(chain, "chainId");
        const evidence = finalValue(
          await evidenceOf(attestedChain, signal).withdrawal(payload, hint),
          "withdrawal",
          `withdrawal on ${chain.name}`,
        );
        assertPaysWithdrawal(evidence, requested);
        signal.throwIfAborted();
        const withdrawal = {
          ...evidence,
          depository: await recordedDepository(services, requested, evidence),
        };
        const message: Message = {
          data,
          result: {
            withdrawalId: withdrawal.withdrawalId,
            depository: withdrawal.depository,
            status: WITHDRAWAL_STATUS[withdrawal.status],
          },
        };
        if (withdrawal.status === "pending") return { message: { ...message, signatures: [] } };
        signal.throwIfAborted();
        await assertPayloadOfWithdrawal(services, requested, payload, withdrawal);
        signal.throwIfAborted();
        const { withdrawalId, status, depository, amount } = withdrawal;
        const accounts = { ...requested, address: requested.addressFor(depository) };
        const [messageSignatures, execution] = await Promise.all([
          services.attestationSigner.signMessage(idOf(message)),
          services.attestationSigner.signExecution(
            withdrawalExecution(withdrawalId, status, accounts, amount),
          ),
        ]);
        return { message: { ...message, ...messageSignatures }, execution };
      },
      route: withdrawalRoute(services, localSigner, requested, data, idOf),
    };
  };
}

/**
 * The payload must match the withdrawal exactly; otherwise one user's payment would settle another user's
 * withdrawal.
 */
function assertPaysWithdrawal({ recipient, currency }: WithdrawalAnswer, { fields }: HubWithdrawal): void {
  const where = "withdrawalAddressRequest";
  if (currency !== fields.currency)
    throw rejected(
      `${where}.currency`,
      "withdrawalAddressRequest.currency differs from the currency of the withdrawal",
    );
  if (recipient !== fields.recipient)
    throw rejected(
      `${where}.recipient`,
      "withdrawalAddressRequest.recipient differs from the recipient of the withdrawal",
    );
}

/**
 * An unused payload does not name its depository: use the one of the allocator's record, otherwise the
 * current one.
 */
async function recordedDepository(
  { hub, hubReader }: AttestationServices,
  requested: HubWithdrawal,
  { depository, formerDepositories = [], withdrawalId }: WithdrawalAnswer,
): Promise<string> {
  if (hub.allocatorAddress === undefined || formerDepositories.length === 0) return depository;
  for (const candidate of [depository, ...formerDepositories])
    if ((await hubReader.recordedWithdrawal(requested.addressFor(candidate))) === withdrawalId)
      return candidate;
  return depository;
}

/**
 * Proves that the payload belongs to this withdrawal: by the allocator's record, or without an allocator by
 * the nonce derived from the withdrawal address. With recipient and currency alone, one payment could burn
 * the amounts of several withdrawals of the same owner.
 */
async function assertPayloadOfWithdrawal(
  { hub, hubReader }: AttestationServices,
  requested: HubWithdrawal,
  payload: Hex,
  { depository, status, withdrawalId }: WithdrawalAnswer,
): Promise<void> {
  const address = requested.addressFor(depository);
  if (hub.allocatorAddress === undefined) {
    if (status === "expired")
      throw rejected("withdrawal", "expiry cannot be attested: this hub does not record payloads");
    const nonce = requested.chain.evm === undefined ? undefined : decodeEvmCallRequest(payload)?.nonce;
    if (nonce !== BigInt(address))
      throw rejected(
        "withdrawal",
        "this hub does not record payloads, so the payload's nonce must be the withdrawal address",
      );
    return;
  }
  if ((await hubReader.recordedWithdrawal(address)) !== withdrawalId)
    throw rejected("withdrawal", "the allocator has not recorded this payload for this withdrawal");
}

function withdrawalRoute(
  { hub, executionDigest }: AttestationServices,
  localSigner: string,
  requested: HubWithdrawal,
  data: Message["data"],
  idOf: (message: Message) => Hex32,
): AttestationRoute<WithdrawalAttestationAnswer> {
  return {
    path: "/attestations/depository-withdrawals/v1",
    parse(json) {
      const parsed = withdrawalAttestationAnswer.safeParse(json);
      if (!parsed.success) return undefined;
      const { message, execution } = parsed.data;
      if (canonicalJson(message.data) !== canonicalJson(data)) return undefined;
      const isPending = message.result.status === WITHDRAWAL_STATUS.pending;
      const unsignedMessage = { data, result: message.result };
      if (isPending || execution === undefined)
        return isPending && execution === undefined
          ? { message: { ...unsignedMessage, signatures: [] } }
          : undefined;
      if (!settles(requested, message, execution)) return undefined;
      return {
        message: { ...unsignedMessage, signatures: message.signatures },
        execution: signedPart(execution),
      };
    },
    unsigned: ({ message, execution }) =>
      canonicalValue({
        message: { data: message.data, result: message.result },
        execution: execution === undefined ? null : unsignedExecution(execution),
      }),
    slots: ({ message, execution }) =>
      execution === undefined
        ? []
        : [messageSlot(idOf(message), message.signatures), executionSlot(hub, executionDigest, execution)],
    withSignatures({ message: { signature: _, ...message }, execution, ...rest }, slots) {
      return {
        ...rest,
        message: { ...message, ...messageSignaturesOf(slots[0] ?? [], localSigner) },
        ...(execution && {
          execution: { ...execution, signatures: executionSignaturesOf(slots[1] ?? [], hub) },
        }),
      };
    },
  };
}

/**
 * Whether a peer's execution settles this withdrawal as its message states. The message does not name the
 * owner, so its signatures alone prove nothing. The amount is the execution's own: only the chain knows it.
 */
function settles(
  requested: HubWithdrawal,
  { result }: Message,
  execution: NonNullable<WithdrawalAttestationAnswer["execution"]>,
): boolean {
  const [action] = execution.actions;
  if (action === undefined) return false;
  const { amount } = decodeHubAction(action as Hex);
  const outcome = result.status === WITHDRAWAL_STATUS.executed ? "executed" : "expired";
  const withdrawalId = result.withdrawalId.toLowerCase() as Hex32;
  const accounts = { ...requested, address: requested.addressFor(result.depository) };
  return isSameExecution(withdrawalExecution(withdrawalId, outcome, accounts, amount), execution);
}
