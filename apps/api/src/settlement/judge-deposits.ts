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
import { verifyExecution } from "./verify-execution.ts";
import type { Verdict } from "./verify-execution.ts";

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
  readonly identicalCount: number;
}

/**
 * Verifies an oracle's answer for one part of a transaction's deposits: its execution must mint exactly what
 * its messages report, a quorum must have signed both, and our deposit is the one that equals our own record.
 * Only the on-chain id and the block time are taken from the signed messages.
 * @param part number of this part, from 0; earlier parts did not contain our deposit
 * @param identicalBefore number of deposits in earlier parts that are identical to ours
 */
export function judgeDeposits(
  judge: Judge,
  claim: DepositClaim,
  answer: DepositAttestationAnswer,
  part = 0,
  identicalBefore = 0,
): Verdict<AttestedPart> {
  const chain = judge.chainOf(claim.chain);
  const messages = answer.messages.map((message) => withCanonicalHex(chain, message));
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

  const signed = verifyExecution(
    judge,
    "deposit",
    depositExecution(chain, claim.transactionId, part, messages.map(depositIn)),
    execution,
    messages.map((message) => ({
      digest: messageDigest(depositoryDepositId(judge.familyOf, readDepositMessage(message))),
      signatures: message.signatures.map(({ signature }) => signature),
    })),
  );
  if (signed.kind === "lie") return signed;

  const identical = messages.filter(
    ({ result }) =>
      result.depositId === claim.orderId &&
      result.depository === claim.depository &&
      result.depositor === claim.depositor &&
      result.currency === claim.currency &&
      BigInt(result.amount) === claim.amount,
  );
  const ours = identical[claim.ordinal - identicalBefore];
  return {
    kind: "true",
    value: {
      identicalCount: identical.length,
      ours: ours && {
        execution: signed.value,
        onchainId: ours.result.onchainId as Hex32,
        credit: creditOf(chain, {
          ...claim,
          depositId: claim.orderId,
          timestamp: depositIn(ours).timestamp,
        }),
      },
    },
  };
}

function withCanonicalHex({ vmType }: HubChain, { data, result, ...rest }: DepositMessage): DepositMessage {
  const canonical = (text: string) => canonicalCase(vmType, text);
  return {
    ...rest,
    data: { ...data, transactionId: canonical(data.transactionId) },
    result: {
      onchainId: result.onchainId.toLowerCase(),
      depository: canonical(result.depository),
      depositId: result.depositId.toLowerCase(),
      depositor: canonical(result.depositor),
      currency: canonical(result.currency),
      amount: result.amount,
    },
  };
}
