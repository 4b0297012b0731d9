import { creditOf, onchainId as onchainIdOf } from "@causeway/attest";
import type { HubCredit } from "@causeway/attest";
import type { DepositEvidence } from "@causeway/chains";
import type { Hex32 } from "@causeway/domain";
import { canonicalTransactionId, decodeAddress, type ConfiguredChain } from "@causeway/families";
import type { InputEntry } from "@causeway/wire";
import { invalid, rejected } from "../ports/attestation-error.ts";
import type { AttestedChains } from "../ports/attested-chains.ts";
import { finalValue } from "./final-value.ts";
import { allInOrder } from "./all-in-order.ts";
import { evidenceOf, requireChain, requireDepository } from "./require-chain.ts";
import type { SignedOrder } from "./read-order.ts";

/** The deposit claimed to pay an input; ids canonical. */
export interface ClaimedInput {
  readonly transactionId: string;
  readonly onchainId: Hex32;
  readonly inputIndex: number;
}

/** The deposit that pays an input of the order. */
export interface SettledInput {
  readonly chain: ConfiguredChain;
  readonly deposit: DepositEvidence;
  /** Unix seconds of the deposit's block. */
  readonly timestamp: bigint;
  readonly height?: bigint | undefined;
  readonly onchainId: Hex32;
}

/**
 * The claims in request order: each input exactly once, and no deposit twice.
 * @throws AttestationError invalid_request, ServiceError for an id that is not canonical
 */
export function readClaimedInputs(
  chains: AttestedChains,
  { json }: SignedOrder,
  entries: readonly InputEntry[],
): readonly ClaimedInput[] {
  const claimed = entries.map((entry, index): ClaimedInput => {
    const input = json.inputs[entry.inputIndex];
    if (input === undefined)
      throw invalid(`inputs[${index}].inputIndex`, `order has no input ${entry.inputIndex}`);
    const { chain } = requireChain(chains, input.payment.chainId, "order.inputs");
    return {
      transactionId: canonicalTransactionId(
        chain.vmType,
        entry.transactionId,
        `inputs[${index}].transactionId`,
      ),
      onchainId: entry.onchainId.toLowerCase() as Hex32,
      inputIndex: entry.inputIndex,
    };
  });
  if (new Set(claimed.map(({ onchainId }) => onchainId)).size < claimed.length)
    throw invalid("inputs", "inputs must not contain the same onchainId twice");
  if (new Set(claimed.map(({ inputIndex }) => inputIndex)).size < claimed.length)
    throw invalid("inputs", "inputs must name each input of the order only once");
  for (const index of json.inputs.keys())
    if (!claimed.some(({ inputIndex }) => inputIndex === index))
      throw invalid("inputs", `inputs has no entry for input ${index} of the order`);
  return claimed;
}

/**
 * The claimed deposits in the order of the inputs: each final, for this order, in the input's currency and on
 * the input's chain.
 * @throws AttestationError for the first input without such a deposit
 */
export async function settledInputs(
  chains: AttestedChains,
  signed: SignedOrder,
  claimed: readonly ClaimedInput[],
  signal: AbortSignal,
): Promise<readonly SettledInput[]> {
  const byIndex = claimed.toSorted((a, b) => a.inputIndex - b.inputIndex);
  return await allInOrder(byIndex.map(async (claim) => await settledInput(chains, signed, claim, signal)));
}

async function settledInput(
  chains: AttestedChains,
  { orderId, json, order }: SignedOrder,
  { transactionId, onchainId, inputIndex }: ClaimedInput,
  signal: AbortSignal,
): Promise<SettledInput> {
  const payment = json.inputs[inputIndex]?.payment;
  const currencyBytes = order.inputs[inputIndex]?.payment.currency;
  if (payment === undefined || currencyBytes === undefined)
    throw new TypeError("invariant violated: claim without an input");
  const attestedChain = requireChain(chains, payment.chainId, "order.inputs");
  const { chain } = attestedChain;
  const field = `inputs[${inputIndex}].transactionId`;
  requireDepository(chain, `order.inputs[${inputIndex}].payment.chainId`);
  const { deposits, timestamp, height } = finalValue(
    await evidenceOf(attestedChain, signal).deposits(transactionId),
    field,
    `the deposit of order input ${inputIndex}`,
  );
  const deposit = deposits.find(({ index }) => onchainIdOf(chain.name, transactionId, index) === onchainId);
  if (deposit === undefined || deposit.depositId !== orderId)
    throw rejected(
      field,
      `the transaction has no deposit with this onchainId and order id for order input ${inputIndex}`,
    );
  if (deposit.currency !== decodeAddress(chain.vmType, currencyBytes))
    throw rejected(field, `the deposit is not in the currency of order input ${inputIndex}`);
  return { chain, deposit, timestamp, height, onchainId };
}

/** What the hub credits for the deposits, as this oracle read them. */
export function creditsOf({ orderId }: SignedOrder, inputs: readonly SettledInput[]): readonly HubCredit[] {
  return inputs.map(({ chain, deposit, timestamp }) =>
    creditOf(chain, { ...deposit, depositId: orderId, timestamp }),
  );
}
