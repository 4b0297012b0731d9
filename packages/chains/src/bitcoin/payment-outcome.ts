import type { Hex } from "@causeway/domain";
import { scriptOfAddress, type BitcoinTransaction } from "@causeway/families/bitcoin";
import type { NonEvmAttempt, NonEvmOutcome, NonEvmPayment } from "../non-evm-connection.ts";
import { transactionOf } from "./address-outputs.ts";
import type { SpendHints } from "./explorer.ts";
import { paymentOutputs } from "./payment-transaction.ts";
import { outpointKey } from "./replacement.ts";
import type { BitcoinReads, FinalTransaction } from "./rpc.ts";
import { ownInputs } from "./sweeps.ts";

/** Finds out what became of the solver's payments. */

export interface OutcomeOptions {
  readonly reads: Pick<BitcoinReads, "find" | "transaction">;
  readonly explorer: Pick<SpendHints, "spendOf">;
  /** The solver's script, hex. */
  readonly ownScript: string;
  /** Confirmations of a final block. */
  readonly confirmations: number;
}

export function createOutcomes({ reads, explorer, ownScript, confirmations }: OutcomeOptions) {
  return async ({ raw, lost }: Pick<NonEvmAttempt, "raw" | "lost">): Promise<NonEvmOutcome> => {
    const transaction = transactionOf(raw);
    const found = await reads.find(transaction.txid);
    if (found?.block !== undefined) {
      const { height, hash, confirmations: reached } = found.block;
      const block = { number: BigInt(height), hash: `0x${hash}` satisfies Hex };
      return { kind: reached >= confirmations ? "final" : "mined", block };
    }
    const inputs = ownInputs(transaction, ownScript);
    const rivals: FinalTransaction[] = [];
    for await (const rival of finalRivals(transaction.txid, inputs)) {
      if (lost !== undefined && makesPayment(rival.transaction, lost.payment)) return finalIn(rival);
      rivals.push(rival);
      // A lost attempt shares one of the inputs, but it is unknown which: every input must be spent.
      if (lost === undefined || rivals.length === inputs.length)
        return { kind: "dead", reason: `${rival.transaction.txid} spends the same outputs` };
    }
    return { kind: found === undefined ? "unseen" : "pending" };
  };

  /** Final transactions that spend `inputs` of the transaction `of`, which can therefore never be mined. */
  async function* finalRivals(
    txid: string,
    inputs: BitcoinTransaction["inputs"],
  ): AsyncGenerator<FinalTransaction> {
    for (const input of inputs) {
      const spend = await explorer.spendOf(input.txid, input.vout);
      if (spend === undefined || spend.txid === txid || !spend.isConfirmed) continue;
      const settled = await reads.transaction(spend.txid);
      if (settled.kind !== "final") continue;
      if (
        settled.value.transaction.inputs.some((spentInput) => outpointKey(spentInput) === outpointKey(input))
      )
        yield settled.value;
    }
  }
}

function finalIn({ transaction, block }: FinalTransaction): NonEvmOutcome {
  const { height, hash } = block;
  return {
    kind: "final",
    block: { number: BigInt(height), hash: `0x${hash}` },
    txId: `0x${transaction.txid}`,
  };
}

function makesPayment(
  { outputs }: BitcoinTransaction,
  { recipient, amount, orderId }: NonEvmPayment,
): boolean {
  const expectedOutputs = paymentOutputs(scriptOfAddress(recipient), amount, orderId);
  return expectedOutputs.every((expected) =>
    outputs.some(
      ({ script, amount: outputAmount }) => script === expected.script && outputAmount === expected.amount,
    ),
  );
}
