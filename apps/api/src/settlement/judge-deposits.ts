import {
  depositKey,
  depositoryDepositId,
  encodeHubAction,
  hubAlias,
  hubTokenId,
  messageDigest,
  orderAddress,
} from "@causeway/attest";
import type { HubChain } from "@causeway/attest";
import { canonicalCase } from "@causeway/domain";
import type { Address, Hex, Hex32, OrderId } from "@causeway/domain";
import type { DepositAttestationAnswer, DepositMessage } from "@causeway/wire";
import type { SignedExecution } from "./settlement.port.ts";
import type { Judge } from "./hub-facts.ts";
import { signedExecution } from "./signed-execution.ts";
import type { Verdict } from "./signed-execution.ts";

/** What this service observed of the deposit, in the oracles' format. */
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
  /** The hub account that holds the deposit. */
  readonly orderAddress: Address;
  readonly tokenId: bigint;
}

const NO_ID: Hex32 = `0x${"00".repeat(32)}`;

/** What one part of a transaction's deposits says about ours. */
export interface AttestedPart {
  /** Undefined if our deposit is in another part. */
  readonly ours: AttestedDeposit | undefined;
  /** Deposits of this part that are identical to ours. */
  readonly alike: number;
}

/**
 * Verifies an oracle's answer for one part of a transaction's deposits: it must be consistent and signed by a
 * quorum.
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
  if (messages.some(({ result, extraData }) => result.depositId !== NO_ID && extraData === undefined))
    return { kind: "lie", reason: "the oracle reports a deposit with an id but without a timestamp" };

  const signed = signedExecution(
    judge,
    "deposit",
    {
      idempotencyKey: depositKey(claim.chain, claim.transactionId, part),
      actions: messages.map((message) => mintOf(at, message)),
    },
    execution,
    messages.map((message) => ({
      digest: messageDigest(depositoryDepositId(judge.familyOf, asMessage(message))),
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
        orderAddress: holderOf(at, ours),
        tokenId: hubTokenId(at, claim.currency),
      },
    },
  };
}

/** The hub account of a deposit: its order's, or else its depositor's. */
function holderOf(at: HubChain, { result, extraData }: DepositMessage): Address {
  if (result.depositId === NO_ID) return hubAlias(at, result.depositor);
  const timestamp = BigInt(extraData?.timestamp ?? "0");
  return orderAddress(at, { depositor: result.depositor, timestamp, depositId: result.depositId as Hex32 });
}

function mintOf(at: HubChain, message: DepositMessage): Hex {
  return encodeHubAction({
    kind: "mint",
    to: holderOf(at, message),
    tokenId: hubTokenId(at, message.result.currency),
    amount: BigInt(message.result.amount),
  });
}

function asMessage({ data, result }: DepositMessage): Parameters<typeof depositoryDepositId>[1] {
  return {
    data,
    result: {
      ...result,
      onchainId: result.onchainId as Hex32,
      depositId: result.depositId as Hex32,
      amount: BigInt(result.amount),
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
