import type { Address } from "@causeway/domain";
import type { DepositEvidence } from "../evidence.ts";
import type { LogFact, ReceiptFact, TransactionFact } from "../family.ts";
import { depositsInLogs, TRANSFER_TOPIC, type DepositReading } from "./deposits.ts";
import { nativeMirrors } from "./native-mirrors.ts";

/** The deposits of one successful transaction, as an oracle attests them. Pure. */

export interface DepositRules {
  readonly depository: Address;
  readonly isZksyncStack: boolean;
}

/**
 * Whether the transaction itself must be known to judge its deposits: only a direct transfer can carry its id in the calldata, events carry their own.
 */
export function needsCalldata(rules: DepositRules, receipt: ReceiptFact): boolean {
  const direct = new Set(
    receipt.logs.filter((log) => log.topics[0] === TRANSFER_TOPIC).map((log) => log.logIndex),
  );
  return read(rules, receipt, undefined).deposits.some(({ logIndex }) => direct.has(logIndex));
}

/** In chain order. `transaction` may be left out where {@link needsCalldata} says so. */
export function depositEvidenceIn(
  rules: DepositRules,
  receipt: ReceiptFact,
  transaction: TransactionFact | undefined,
): DepositEvidence[] {
  return read(rules, receipt, transaction).deposits.map(({ logIndex, depositor, currency, amount, id }) => ({
    index: logIndex.toString(),
    depositor,
    currency,
    amount,
    depositId: id,
  }));
}

function read(
  rules: DepositRules,
  receipt: ReceiptFact,
  transaction: TransactionFact | undefined,
): DepositReading {
  const mirrors = nativeMirrors(rules.isZksyncStack);
  const logs = receipt.logs.filter((log: LogFact) => !mirrors.has(log.address));
  // Without calldata no direct transfer finds an id; the sender of the transaction is in no attestation.
  const known = transaction ?? {
    hash: receipt.txHash,
    from: rules.depository,
    to: undefined,
    input: "0x",
    value: 0n,
    nonce: 0,
  };
  return depositsInLogs(
    { depository: rules.depository, tokens: undefined },
    logs,
    new Map([[receipt.txHash, known]]),
  );
}
