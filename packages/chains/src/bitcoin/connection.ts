import type { Hex, OrderId } from "@causeway/domain";
import { encodeAddress, inconsistent, nativeCurrency, NodeRefusal } from "@causeway/families";
import type { DepositFact } from "@causeway/families/evm";
import { createRpcTransport, type RpcTransport } from "../nodes/transport.ts";
import {
  type NonEvmConnection,
  type OpenConnection,
  type PayingConnection,
  type NonEvmArrivals,
  type NonEvmAttempt,
  type NonEvmPayment,
  InsufficientInventory,
  type NonEvmTransaction,
} from "../non-evm-connection.ts";
import { observed, type NonEvmOptions } from "../non-evm-options.ts";
import { createAddressListing } from "./address-listing.ts";
import { MAX_OUTPUTS, transactionOf } from "./address-outputs.ts";
import { cursorText, finalBlocksAfter, readCursor, upToOf, type BlockToRead } from "./arrivals.ts";
import { selectOutputs } from "./output-selection.ts";
import {
  addressBytesOfScript,
  bytesIn,
  hexOf,
  isKeyProgram,
  judgeDeposit,
  scriptOf,
  scriptOfAddress,
  type BitcoinTransaction,
} from "@causeway/families/bitcoin";
import { depositPrivateKeys } from "./deposit-keys.ts";
import { createExplorer, shareOutputs } from "./explorer.ts";
import { cachedFeeRate, maxFeeRate } from "./fee-rate.ts";
import { createOutcomes } from "./payment-outcome.ts";
import { paymentOutputs, scriptOfKey, signedTransaction, textScript } from "./payment-transaction.ts";
import { outpointKey, replacementFee, sharedInputs } from "./replacement.ts";
import { createBitcoinReads, type BitcoinReads } from "./rpc.ts";
import { dustLimit, feeFor, vsizeOf } from "./sizes-and-dust.ts";
import {
  createSweeps,
  ownInputs,
  signedAttempt,
  spentBy,
  type SignedAttempt,
  type SigningKeys,
} from "./sweeps.ts";
import { createWallet } from "./wallet.ts";

const NATIVE = encodeAddress("bitcoin-vm", nativeCurrency("bitcoin-vm"));
/** A placeholder with the length of an order id. */
const PLACEHOLDER_ORDER_ID = `0x${"00".repeat(32)}` as OrderId;
/** Assumed inputs of a payment before its inputs are selected. */
const TYPICAL_INPUTS = ["witnessKey", "witnessKey"] as const;
/** Maximum fee of a replacement, as a multiple of the maximum fee of an ordinary payment. */
const MAX_REPLACEMENT_FACTOR = 2n;

/**
 * Connects the service to Bitcoin: reads deposits to the configured depositories from blocks, and pays from
 * the witness program of the solver's key.
 *
 * Everything is read from the first node.
 * @throws RangeError when the chain is not Bitcoin or no explorer is configured
 */
export function connectBitcoin(options: NonEvmOptions): OpenConnection {
  const { attestation } = options;
  const facts = attestation.bitcoin;
  if (facts?.esploraUrl === undefined)
    throw new RangeError(
      `chain ${attestation.name}: additionalData.esploraCompatibleApiUrl is required for payments`,
    );
  const [url] = attestation.rpcUrls;
  if (url === undefined) throw new RangeError(`chain ${attestation.name}: no node is configured`);
  const transport = createRpcTransport({ url, ...observed(options, url) });
  const explorer = createExplorer(facts.esploraUrl, options.observeEndpoint?.(facts.esploraUrl));
  const reads = createBitcoinReads(transport, facts);
  const { solver } = options;
  const ownScript = scriptOfAddress(solver);
  if (!isKeyProgram(ownScript))
    throw new RangeError(`chain ${attestation.name}: solver address must be P2WPKH`);
  const wallet = createWallet(ownScript, facts.network, {
    reads,
    explorer,
    onUnlisted: (error) => options.onFault(error),
  });
  const { sharedFeeSources: nodes = [] } = options;
  nodes.push(reads);
  const maxRate = maxFeeRate(options.chain);
  const currentFeeRate = cachedFeeRate(explorer, nodes, options.now, maxRate);
  const { depositAddressKey } = options;
  const listing = createAddressListing(facts.network, MAX_OUTPUTS, {
    explorer: shareOutputs(explorer, options.sharedOutputs),
    reads,
    now: () => options.now(),
    onFault: (error) => options.onFault(error),
  });
  const sweeps = createSweeps(facts, depositAddressKey, { reads, listing });
  const addresses = [attestation.depository, ...attestation.additionalDepositories];
  const depositories = new Set(addresses.filter((address) => address !== undefined).map(scriptOf));

  /** The deposit of a transaction; undefined if it is not one, or its depositor is unknown. */
  const depositOf = async (
    transaction: BitcoinTransaction,
    block: BlockToRead,
  ): Promise<DepositFact | undefined> => {
    const spent = await reads.spentBy(transaction.inputs);
    if (spent === undefined)
      throw inconsistent("getrawtransaction", "the node does not have the outputs that a transaction spends");
    const judgment = judgeDeposit({ depositories, network: facts.network }, { transaction, spent });
    if ("refusal" in judgment || judgment.deposit === undefined) return undefined;
    const { deposit, script } = judgment;
    const depository = addressBytesOfScript(script);
    const depositor = encodeAddress("bitcoin-vm", deposit.depositor);
    return {
      txHash: `0x${transaction.txid}`,
      // One deposit per transaction.
      ordinal: 0,
      logIndex: Number(deposit.index),
      blockNumber: BigInt(block.height),
      blockHash: `0x${block.hash}`,
      depositor,
      sender: addressBytesOfScript(spent[0]?.script ?? "") ?? depositor,
      currency: NATIVE,
      amount: deposit.amount,
      ...(depository !== undefined && { depository }),
      id: deposit.depositId,
      timestamp: block.time,
    };
  };

  const outcome = createOutcomes({ reads, explorer, ownScript, confirmations: facts.confirmations });

  const signAttempt = async (
    signing: SigningKeys,
    payment: NonEvmPayment,
    earlierAttempts: readonly SignedAttempt[],
    reserved: readonly Hex[],
  ): Promise<NonEvmAttempt> => {
    const payeeOutputs = paymentOutputs(scriptOfAddress(payment.recipient), payment.amount, payment.orderId);
    const reservedKeys = spentBy(reserved);
    const swept = await sweeps.sweepPartsOf(payment, earlierAttempts, reservedKeys, signing);
    const outputs = [...payeeOutputs, ...swept.outputs];
    const sweptVsize = vsizeOf(witnessInputs(swept.spent.length), []) - vsizeOf([], []);
    const required = await Promise.all(
      sharedInputs(earlierAttempts).map(async (utxo) => await wallet.unspentInChain(utxo)),
    );
    const spendable = await wallet.spendable();
    const excludedKeys = new Set([...reservedKeys, ...required.map(outpointKey)]);
    const feeRate = await currentFeeRate(earlierAttempts.length);
    const selection = selectOutputs({
      required,
      available: spendable.filter((utxo) => !excludedKeys.has(outpointKey(utxo))),
      kind: "witnessKey",
      outputs: outputs.map(({ script }) => script),
      amount: payment.sweeps === undefined ? payment.amount : 0n,
      changeScript: ownScript,
      fee: (vsize) => replacementFee(earlierAttempts, vsize + sweptVsize, feeRate),
    });
    if (selection === undefined)
      throw new InsufficientInventory(`insufficient solver balance for ${payment.amount} and its fee`);
    const { change } = selection;
    const fee = selection.fee + swept.dust;
    // The owner of the first input is the depositor.
    const inputs = [...swept.spent, ...selection.inputs];
    const allOutputs = change > 0n ? [...outputs, { script: ownScript, amount: change }] : outputs;
    const maxFee = feeFor(
      vsizeOf(
        witnessInputs(inputs.length),
        allOutputs.map(({ script }) => script),
      ),
      maxRate,
    );
    if (fee > maxFee * MAX_REPLACEMENT_FACTOR)
      throw new InsufficientInventory("another attempt would exceed the maximum fee");
    const { txid, bytes } = signedTransaction([signing.solver, ...swept.keys], inputs, allOutputs);
    return { raw: `0x${hexOf(bytes)}`, txId: `0x${txid}`, fee, madeAtMs: options.now() };
  };

  // The id commits to the spent outputs: once mined, a transaction that spends the solver's outputs was
  // signed by the solver, regardless of the witness of these bytes.
  const isPayment = async (
    { raw, txId }: NonEvmAttempt,
    { recipient, amount, orderId, sweeps: swept }: NonEvmPayment,
  ): Promise<boolean> => {
    const { txid, inputs, outputs } = transactionOf(raw);
    const expected = paymentOutputs(scriptOfAddress(recipient), amount, orderId);
    const sweptAddress = swept && sweeps.addresses?.addressOf(swept.key);
    const ownScripts = [ownScript, ...(sweptAddress === undefined ? [] : [scriptOfAddress(sweptAddress)])];
    const paysExpected = expected.every(
      ({ script, amount: sats }, index) =>
        outputs[index]?.script === script && outputs[index].amount === sats,
    );
    const otherOutputs = outputs.slice(expected.length);
    if (
      !paysExpected ||
      txId !== `0x${txid}` ||
      !otherOutputs.every(({ script }) => ownScripts.includes(script))
    )
      return false;
    const spent = await reads.spentBy(inputs);
    if (spent === undefined || spent.length !== inputs.length) return false;
    return (
      spent.some(({ script }) => script === ownScript) &&
      spent.every(({ script }) => ownScripts.includes(script))
    );
  };

  // A transfer from the solver to itself does not count as a payment.
  const refusal = (payment: Omit<NonEvmPayment, "orderId">): string | undefined => {
    if (payment.recipient === solver) return "recipient must differ from the payer";
    if (payment.sweeps === undefined) return refusalOf(payment, depositories);
    const isDeposit = depositories.has(scriptOfAddress(payment.recipient));
    return isDeposit ? refusalOf(payment, new Set()) : "a sweep must pay a depository";
  };

  const connection: NonEvmConnection = {
    vm: "bitcoin-vm",
    solver,
    // The attempts share an input.
    canReplace: true,
    canCancel: true,
    ...(sweeps.addresses !== undefined && { depositAddresses: sweeps.addresses }),
    arrivals: async (text): Promise<NonEvmArrivals> => {
      const cursor = text === undefined ? undefined : readCursor(text);
      const blocks = await finalBlocksAfter(reads, cursor, {
        confirmations: facts.confirmations,
        scripts: depositories,
      });
      const top = blocks.at(-1);
      if (top === undefined) return await nothingNew(reads, cursor, facts.confirmations);
      const deposits: DepositFact[] = [];
      for (const block of blocks)
        for (const transaction of block.candidates) {
          const deposit = await depositOf(transaction, block);
          if (deposit !== undefined) deposits.push(deposit);
        }
      const startedAt = cursor === undefined ? await cursorBefore(reads, blocks) : undefined;
      return {
        deposits,
        cursor: cursorText(top),
        ...(startedAt !== undefined && { startedAt }),
        upTo: upToOf(top),
      };
    },
    arrivalsOf: async (transactionId, shown): Promise<NonEvmTransaction> => {
      const settled = await reads.transaction(transactionId.slice(2));
      if (settled.kind === "notFinal") return { kind: "notFinal" };
      if (settled.kind !== "final") {
        // Throws if the node has not reached the block.
        if (shown !== undefined) await reads.hashAt(Number(shown.number));
        return { kind: "absent" };
      }
      const { transaction, block } = settled.value;
      const deposit = await depositOf(transaction, { ...block, candidates: [] });
      return { kind: "final", deposits: deposit === undefined ? [] : [deposit], upTo: upToOf(block) };
    },
    balances: async (currencies) => {
      const balance = (await wallet.spendable()).reduce((sum, { amount }) => sum + amount, 0n);
      return new Map(currencies.map((currency) => [currency, currency === NATIVE ? balance : 0n]));
    },
    paymentCost: async (_currency, recipient) => {
      const to = recipient === undefined ? ownScript : scriptOfAddress(recipient);
      return feeFor(
        vsizeOf(TYPICAL_INPUTS, [to, textScript(PLACEHOLDER_ORDER_ID), ownScript]),
        await currentFeeRate(),
      );
    },
    refusalOf: async (payment) => await Promise.resolve(refusal(payment)),
    isPayment: async (attempt, payment) => await isPayment(attempt, payment),
    send: async ({ raw }) => {
      return await sendTo(transport, raw);
    },
    outcome,
    head: async () => {
      const number = BigInt((await reads.newest()).height);
      return { position: number, number };
    },
    onNews: (listener) => watchTip(reads, options, listener),
    close: async () => {
      await Promise.all([transport.close(), explorer.close()]);
    },
  };

  const prepareWith =
    (signing: SigningKeys): PayingConnection["prepare"] =>
    async (payment, earlierAttempts, reserved) => {
      const isCancel = payment.recipient === solver && earlierAttempts.length > 0;
      const refusalReason = isCancel ? undefined : refusal(payment);
      if (refusalReason !== undefined) throw new RangeError(refusalReason);
      const alive: SignedAttempt[] = [];
      for (const attempt of earlierAttempts) {
        const { kind } = await outcome(attempt);
        if (kind === "mined" || kind === "final")
          throw inconsistent("getrawtransaction", "an earlier attempt at this payment was mined");
        if (kind !== "dead") alive.push(signedAttempt(attempt, ownScript));
      }
      return await signAttempt(signing, payment, alive, reserved);
    };

  return {
    ...connection,
    withKey: (privateKey, depositKey) => {
      const key = bytesIn(privateKey.slice(2)) ?? new Uint8Array();
      if (scriptOfKey(key) !== ownScript)
        throw new RangeError(`chain ${attestation.name}: key does not match the solver address`);
      if (depositAddressKey !== undefined && depositKey === undefined)
        throw new RangeError(`chain ${attestation.name}: DEPOSIT_ADDRESS_BITCOIN_XPRV is required`);
      const ofDepositAddress =
        depositAddressKey === undefined || depositKey === undefined
          ? undefined
          : depositPrivateKeys(facts.network, depositKey, depositAddressKey);
      const ownInputKeys = ({ raw }: NonEvmAttempt) =>
        ownInputs(transactionOf(raw), ownScript).map(outpointKey);
      return {
        ...connection,
        prepare: prepareWith({ solver: key, ofDepositAddress }),
        // If the inputs of an attempt do not exist, it can never be mined, and neither can its replacements.
        isCurrent: async ({ raw }) => {
          const { inputs } = transactionOf(raw);
          const areUnspent = await Promise.all(
            inputs.map(async (input) => await reads.isUnspent(input, false)),
          );
          return areUnspent.every(Boolean);
        },
        conflicts: (attempt, otherAttempt) => {
          const spent = new Set(ownInputKeys(attempt));
          return ownInputKeys(otherAttempt).some((input) => spent.has(input));
        },
      };
    },
  };
}

function witnessInputs(count: number): readonly "witnessKey"[] {
  return Array.from({ length: count }, () => "witnessKey");
}

function refusalOf(
  { recipient, currency, amount }: Omit<NonEvmPayment, "orderId">,
  depositories: ReadonlySet<string>,
): string | undefined {
  if (currency !== NATIVE) return "only the native token can be paid on this chain";
  if (recipient === NATIVE) return "recipient is not a valid address";
  const script = scriptOfAddress(recipient);
  if (addressBytesOfScript(script) !== recipient) return "recipient is not a valid address";
  if (depositories.has(script)) return "recipient must not be a depository";
  const minAmount = dustLimit(script);
  return amount < minAmount ? `amount to this address must be at least ${minAmount} satoshis` : undefined;
}

/** The cursor after which these blocks were read. */
async function cursorBefore(reads: BitcoinReads, [first]: readonly BlockToRead[]): Promise<string> {
  const height = Math.max(0, (first?.height ?? 0) - 1);
  return cursorText({ height, hash: await reads.hashAt(height) });
}

/** The current position if no further block is final yet. */
async function nothingNew(
  reads: BitcoinReads,
  cursor: { readonly height: number; readonly hash: string } | undefined,
  confirmations: number,
): Promise<NonEvmArrivals> {
  const hash =
    cursor?.hash ?? (await reads.hashAt(Math.max(0, (await reads.newest()).height - confirmations + 1)));
  const block = await reads.block(hash);
  if (block === undefined)
    throw inconsistent("getblockheader", "the node does not know the last scanned block");
  return { deposits: [], cursor: cursorText(block), upTo: upToOf(block) };
}

/** Refusals by a node that already has the transaction. */
const ALREADY_KNOWN = /already in (?:block chain|utxo set|mempool)|txn-already|outputs already/i;
/** Temporary refusals: the mempool is full, or contains an earlier attempt with a higher fee. */
const TEMPORARY =
  /insufficient fee|mempool-conflict|mempool full|mempool min fee|min relay fee|too-long-mempool|non-final|replacement/i;

async function sendTo(transport: RpcTransport, raw: Hex): Promise<"sent" | { readonly refused: string }> {
  try {
    await transport.request("sendrawtransaction", [raw.slice(2)]);
    return "sent";
  } catch (error) {
    if (!(error instanceof NodeRefusal) || TEMPORARY.test(error.nodeText)) throw error;
    if (error.nodeCode === -27 || ALREADY_KNOWN.test(error.nodeText)) return "sent";
    // The node rejected the transaction: an input is missing or spent, or it violates a rule.
    if (error.nodeCode === -25 || error.nodeCode === -26 || error.nodeCode === -22)
      return { refused: error.nodeText };
    throw error;
  }
}

/** Maximum and minimum time between two reads of the newest block, ms. */
const MAX_POLL_MS = 30_000;
const MIN_POLL_MS = 500;

function watchTip(reads: BitcoinReads, { chain, onFault }: NonEvmOptions, listener: () => void): () => void {
  const intervalMs = Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, chain.blockTimeSeconds * 50));
  let lastHash: string | undefined;
  let isPolling = false;
  const poll = async (): Promise<void> => {
    if (isPolling) return;
    isPolling = true;
    try {
      const { hash } = await reads.newest();
      if (lastHash !== undefined && hash !== lastHash) listener();
      lastHash = hash;
    } catch (error) {
      onFault(error);
    } finally {
      isPolling = false;
    }
  };
  const timer = setInterval(() => void poll(), intervalMs);
  timer.unref();
  void poll();
  return () => clearInterval(timer);
}
