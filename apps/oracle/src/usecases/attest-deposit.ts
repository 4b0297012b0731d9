import {
  depositExecution,
  depositIn,
  depositoryDepositId,
  hubTokenId,
  isSameExecution,
  NO_DEPOSIT_ID,
  onchainId,
  readDepositMessage,
} from "@causeway/attest";
import type { AttestationRoute } from "@causeway/attest";
import type { DepositEvidence, TransactionDeposits } from "@causeway/chains";
import { isAttestedInParts, MAX_WHOLE_DEPOSITS, type AttestationHub, type Hex32 } from "@causeway/domain";
import { canonicalAddress, canonicalTransactionId, type ConfiguredChain } from "@causeway/families";
import { depositAttestationAnswer } from "@causeway/wire";
import type {
  DepositAttestationAnswer,
  DepositAttestationRequest,
  DepositMessage,
  Execution,
} from "@causeway/wire";
import type { AttestationServices } from "../ports/attestation-services.ts";
import { rejected } from "../ports/attestation-error.ts";
import type { ParsedRequest } from "../ports/parsed-request.ts";
import { canonicalValue } from "./canonical-json.ts";
import { depositParts, DEPOSITS_PER_PART } from "./deposit-parts.ts";
import { finalValue } from "./final-value.ts";
import { evidenceOf, familyOf, requireChain, requireDepository } from "./require-chain.ts";
import {
  executionSignaturesOf,
  executionSlot,
  messageSignaturesOf,
  messageSlot,
  signedPart,
  unsignedExecution,
} from "./message-slots.ts";

type UnsignedMessage = Pick<DepositMessage, "data" | "result">;

/**
 * Attests "these deposits of this transaction are final": one message and one mint per deposit of the
 * requested part, in chain order; empty if the part does not exist.
 * @throws ServiceError INVALID_REQUEST and AttestationError for an invalid request
 */
export function attestDeposit(services: AttestationServices, localSigner: string) {
  const family = familyOf(services.chains);

  return (request: DepositAttestationRequest): ParsedRequest<DepositAttestationAnswer> => {
    const attestedChain = requireChain(services.chains, request.chainId, "chainId");
    const { chain } = attestedChain;
    const transactionId = canonicalTransactionId(chain.vmType, request.transactionId);
    const part = request.part ?? 0;
    const requested = { chain, transactionId, part };
    const idOf = (message: UnsignedMessage): Hex32 =>
      depositoryDepositId(family, readDepositMessage(message));
    return {
      family: chain.vmType,
      key: `${chain.name}:${transactionId}:${part}`,
      signsNothing: ({ execution }) => execution === undefined,
      async attest(signal): Promise<DepositAttestationAnswer> {
        requireDepository(chain, "chainId");
        const transactionDeposits = finalValue(
          await evidenceOf(attestedChain, signal).deposits(transactionId),
          "transactionId",
          `transaction ${transactionId} on ${chain.name}`,
        );
        signal.throwIfAborted();
        return await signDeposits(services, requested, transactionDeposits, idOf);
      },
      route: depositRoute(services, localSigner, requested, idOf),
    };
  };
}

/** The deposits that a request names. */
interface RequestedDeposits {
  readonly chain: ConfiguredChain;
  readonly transactionId: string;
  /** Index in {@link depositParts}. */
  readonly part: number;
}

/**
 * @throws AttestationError if the transaction is attested as a whole but a later part is requested, or if it
 * does not fit into one execution
 */
function depositsOfPart(
  hub: AttestationHub,
  part: number,
  { deposits, timestamp }: TransactionDeposits,
): TransactionDeposits["deposits"] {
  if (isAttestedInParts(hub, timestamp)) return depositParts(deposits)[part] ?? [];
  if (part > 0)
    throw rejected(
      "part",
      `part must be 0, because ${undividedReason(hub, timestamp)} and all deposits are in part 0`,
    );
  if (deposits.length > MAX_WHOLE_DEPOSITS)
    throw rejected(
      "transactionId",
      `transaction has ${deposits.length} deposits, but one execution contains at most ${MAX_WHOLE_DEPOSITS}; ` +
        `it is not attested in parts because ${undividedReason(hub, timestamp)}`,
    );
  return deposits;
}

function undividedReason({ depositPartsSince }: AttestationHub, timestamp: bigint): string {
  return depositPartsSince === undefined
    ? "the hub file has no depositPartsSince"
    : `its block (${timestamp}) is earlier than depositPartsSince (${depositPartsSince})`;
}

async function signDeposits(
  { attestationSigner, hub }: AttestationServices,
  { chain, transactionId, part }: RequestedDeposits,
  transactionDeposits: TransactionDeposits,
  idOf: (message: UnsignedMessage) => Hex32,
): Promise<DepositAttestationAnswer> {
  const { depository, timestamp } = transactionDeposits;
  const deposits = depositsOfPart(hub, part, transactionDeposits).map(
    ({ depositId = NO_DEPOSIT_ID, ...deposit }) => ({
      ...deposit,
      depositId,
      timestamp,
    }),
  );
  if (deposits.length === 0) return { messages: [] };
  const unsigned = deposits.map((deposit): UnsignedMessage => ({
    data: { chainId: chain.name, transactionId },
    result: {
      onchainId: onchainId(chain.name, transactionId, deposit.index),
      depository,
      depositId: deposit.depositId,
      depositor: deposit.depositor,
      currency: deposit.currency,
      amount: deposit.amount.toString(),
    },
  }));
  const [execution, ...messageSignatures] = await Promise.all([
    attestationSigner.signExecution(depositExecution(chain, transactionId, part, deposits)),
    ...unsigned.map((message) => attestationSigner.signMessage(idOf(message))),
  ]);
  return {
    messages: unsigned.map((message, index) => ({
      ...message,
      extraData: { timestamp: timestamp.toString() },
      ...(messageSignatures[index] ?? { signatures: [] }),
    })),
    execution: { ...execution, metadata: metadataOf(hub, chain, deposits) },
  };
}

/** The source of the minted tokens. Not signed, so always computed here. */
function metadataOf(
  hub: AttestationHub,
  chain: ConfiguredChain,
  deposits: readonly Pick<DepositEvidence, "currency">[],
): NonNullable<Execution["metadata"]> {
  return deposits.map(({ currency }) => ({
    hubTokenId: hubTokenId(chain, currency).toString(),
    origin: { address: currency, chainId: chain.name, family: chain.vmType },
    oracleChainId: String(hub.chainId),
    oracleContract: hub.oracleAddress,
  }));
}

function depositRoute(
  { hub, executionDigest }: AttestationServices,
  localSigner: string,
  { chain, transactionId, part }: RequestedDeposits,
  idOf: (message: UnsignedMessage) => Hex32,
): AttestationRoute<DepositAttestationAnswer> {
  return {
    path: "/attestations/depository-deposits/v1",
    parse(json) {
      const parsed = depositAttestationAnswer.safeParse(json);
      if (!parsed.success) return undefined;
      const { messages, execution } = parsed.data;
      if ((execution === undefined) !== (messages.length === 0)) return undefined;
      if (messages.length > (part === 0 ? MAX_WHOLE_DEPOSITS : DEPOSITS_PER_PART)) return undefined;
      if (!messages.every(({ data }) => data.chainId === chain.name && data.transactionId === transactionId))
        return undefined;
      if (execution === undefined) return { messages: [] };
      if (messages.some((message) => hasDepositId(message) && message.extraData === undefined))
        return undefined;
      // The signed mints prove the times, which the messages' signatures do not cover.
      const expected = depositExecution(chain, transactionId, part, messages.map(depositIn));
      if (!isSameExecution(expected, execution)) return undefined;
      const proven = messages.map(withoutUnprovenTime);
      if (!followsPartRule(hub, part, proven)) return undefined;
      return {
        messages: proven,
        execution: {
          ...signedPart(execution),
          metadata: metadataOf(
            hub,
            chain,
            proven.map(({ result }) => ({ currency: canonicalAddress(chain.vmType, result.currency) })),
          ),
        },
      };
    },
    unsigned: ({ messages, execution }) =>
      canonicalValue({
        messages: messages.map(({ data, result }) => ({ data, result })),
        execution: execution === undefined ? null : unsignedExecution(execution),
      }),
    slots: ({ messages, execution }) =>
      execution === undefined
        ? []
        : [
            ...messages.map((message) => messageSlot(idOf(message), message.signatures)),
            executionSlot(hub, executionDigest, execution),
          ],
    withSignatures: ({ messages, execution, ...rest }, slots) => ({
      ...rest,
      messages: messages.map(({ signature: _, ...message }, index) => ({
        ...message,
        ...messageSignaturesOf(slots[index] ?? [], localSigner),
      })),
      ...(execution && {
        execution: { ...execution, signatures: executionSignaturesOf(slots[messages.length] ?? [], hub) },
      }),
    }),
  };
}

/**
 * Whether a peer's answer splits the deposits as this oracle would, as far as the proven times of its
 * messages show.
 */
function followsPartRule(hub: AttestationHub, part: number, messages: readonly DepositMessage[]): boolean {
  if (part > 0 && hub.depositPartsSince === undefined) return false;
  return messages.every(({ extraData }) => {
    if (extraData === undefined) return true;
    return isAttestedInParts(hub, BigInt(extraData.timestamp))
      ? messages.length <= DEPOSITS_PER_PART
      : part === 0;
  });
}

function hasDepositId(message: DepositMessage): boolean {
  return depositIn(message).depositId !== NO_DEPOSIT_ID;
}

/** The mint of a deposit without an id does not depend on the time, which is then omitted as unproven. */
function withoutUnprovenTime(message: DepositMessage): DepositMessage {
  const { data, result, extraData, signatures } = message;
  const isProven = extraData !== undefined && hasDepositId(message);
  return {
    data,
    result,
    ...(isProven && { extraData: { timestamp: BigInt(extraData.timestamp).toString() } }),
    signatures,
  };
}
