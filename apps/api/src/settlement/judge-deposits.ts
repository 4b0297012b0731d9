import {
  creditOf,
  depositExecution,
  depositIn,
  depositoryDepositId,
  messageDigest,
  NO_DEPOSIT_ID,
  readDepositMessage,
} from "@causeway/attest";
import type { HubChain, HubCredit } from "@causeway/attest";
import type { Hex32, OrderId } from "@causeway/domain";
import { canonicalCase } from "@causeway/families";
import type { DepositAttestationAnswer, DepositMessage } from "@causeway/wire";
import type { SignedExecution } from "./settlement.port.ts";
import type { Judge } from "./hub-facts.ts";
import { signedExecution } from "./signed-execution.ts";
import type { Verdict } from "./signed-execution.ts";

/** This service's observation of the deposit, in the oracles' format. */
export interface DepositClaim {
  readonly chain: string;
  readonly transactionId: string;
  readonly depository: string;
  readonly orderId: OrderId;
  readonly depositor: string;
  readonly currency: string;
  readonly amount: bigint;
  /** Position among identical deposits of the transaction. */
  readonly ordinal: number;
}

export interface AttestedDeposit {
  readonly execution: SignedExecution;
  readonly onchainId: Hex32;
  readonly credit: HubCredit;
}

/** The answer of one part of a transaction's deposits about ours. */
export interface AttestedPart {
  /** Undefined if our deposit is in another part. */
  readonly ours: AttestedDeposit | undefined;
  /** Deposits of this part that are identical to ours. */
  readonly alike: number;
}

/**
 * Verifies an oracle's answer for one part of a transaction's deposits: its execution must mint exactly what
 * its messages report, a quorum must have signed both, and our deposit is the one that equals our own record.
 * Only the on-chain id and the block time are taken from the signed messages.
 * @param part earlier parts did not hold our deposit
 * @param before deposits of those parts that are identical to ours
 */
export function judgeDeposits(
  judge: Judge,
  claim: DepositClaim,
  answer: DepositAttestationAnswer,
  part = 0,
  before = 0,
): Verdict<AttestedPart> {
  const at = judge.chainOf(claim.chain);
  const messages = answer.messages.map((message) => withCanonicalHex(at, message));
  const stray = messages.find(
    ({ data }) => data.chainId !== claim.chain || data.transactionId !== claim.transactionId,
  );
  if (stray !== undefined) return { kind: "lie", reason: "the oracle reports another transaction" };
  const { execution } = answer;
  if (execution === undefined)
    return part === 0
      ? { kind: "lie", reason: "the oracle sees no deposit in the transaction, but this service does" }
      : { kind: "lie", reason: "the deposit is not among those that the oracle sees" };
  // Only the account of an order depends on the time. Peers omit it from deposits without an id, where no
  // signature proves it.
  if (messages.some(({ result, extraData }) => result.depositId !== NO_DEPOSIT_ID && extraData === undefined))
    return { kind: "lie", reason: "the oracle reports a deposit with an id but without a timestamp" };

  const signed = signedExecution(
    judge,
    "deposit",
    depositExecution(at, claim.transactionId, part, messages.map(depositIn)),
    execution,
    messages.map((message) => ({
      digest: messageDigest(depositoryDepositId(judge.familyOf, readDepositMessage(message))),
      signatures: message.signatures.map(({ signature }) => signature),
    })),
  );
  if (signed.kind === "lie") return signed;

  const alike = messages.filter(
    ({ result }) =>
      result.depositId === claim.orderId &&
      result.depository === claim.depository &&
      result.depositor === claim.depositor &&
      result.currency === claim.currency &&
      BigInt(result.amount) === claim.amount,
  );
  const ours = alike[claim.ordinal - before];
  return {
    kind: "true",
    value: {
      alike: alike.length,
      ours: ours && {
        execution: signed.value,
        onchainId: ours.result.onchainId as Hex32,
        credit: creditOf(at, {
          ...claim,
          depositId: claim.orderId,
          timestamp: depositIn(ours).timestamp,
        }),
      },
    },
  };
}

function withCanonicalHex({ vmType }: HubChain, { data, result, ...rest }: DepositMessage): DepositMessage {
  const one = (text: string) => canonicalCase(vmType, text);
  return {
    ...rest,
    data: { ...data, transactionId: one(data.transactionId) },
    result: {
      onchainId: result.onchainId.toLowerCase(),
      depository: one(result.depository),
      depositId: result.depositId.toLowerCase(),
      depositor: one(result.depositor),
      currency: one(result.currency),
      amount: result.amount,
    },
  };
}
