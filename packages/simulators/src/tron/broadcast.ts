import { setTimeout as delay } from "node:timers/promises";
import { utils } from "tronweb";
import { recoverAddress, type Hex } from "viem";
import { AnvilError } from "./anvil-rpc.ts";
import type { ContractValue, SignedTransaction, TronChain } from "./tron-chain.ts";
import { bare, evmAddress, quantity } from "./tron-address.ts";

/** Sun per unit of energy, from the chain parameters. */
export const ENERGY_PRICE_SUN = 420n;
/** Maximum expiration of a transaction after the newest block. */
const MAX_EXPIRATION_MS = 24 * 60 * 60 * 1_000;
/** Maximum energy of one call. */
const MAX_ENERGY = 100_000_000n;

export type BroadcastAnswer =
  | { readonly result: true; readonly txid: string }
  | { readonly code: string; readonly txid: string; readonly message: string };

/**
 * Accepts a signed transaction like a full node: recomputes its id, recovers the signer, compares it with the
 * owner, checks its reference block, its expiration and whether it is a duplicate, and executes it in anvil.
 * The fee limit limits the energy, but no fees are charged.
 */
export async function broadcast(chain: TronChain, body: unknown): Promise<BroadcastAnswer> {
  const signed = body as SignedTransaction;
  let txid: string;
  try {
    txid = bare(utils.transaction.txPbToTxID(utils.transaction.txJsonToPb(signed)));
  } catch (error) {
    return refusal("OTHER_ERROR", "", `the transaction cannot be read: ${String(error)}`);
  }
  const rejection = (await signatureRefusal(txid, signed)) ?? (await timingRefusal(chain, txid, signed));
  if (rejection !== undefined) return rejection;
  const [{ type, parameter }] = signed.raw_data.contract;
  const from = evmAddress(parameter.value.owner_address);
  if (from === undefined) return refusal("CONTRACT_VALIDATE_ERROR", txid, "Invalid ownerAddress");
  const call = await callOf(chain, type, parameter.value);
  if ("reason" in call) return refusal("CONTRACT_VALIDATE_ERROR", txid, call.reason);
  const balance = BigInt(String(await chain.rpc("eth_getBalance", [from, "latest"])));
  if (balance < call.value) return refusal("CONTRACT_VALIDATE_ERROR", txid, "balance is not sufficient.");

  const { intrinsic, minimum } = bytesGas(call.data);
  const affordable = BigInt(signed.raw_data.fee_limit ?? 0) / ENERGY_PRICE_SUN;
  const energy = affordable < MAX_ENERGY ? affordable : MAX_ENERGY;
  const gasLimit = intrinsic + energy > minimum ? intrinsic + energy : minimum;
  // The hash covers only the raw bytes, not the other fields that the client sent.
  const raw_data_hex = bare(
    utils.transaction.txPbToRawDataHex(utils.transaction.txJsonToPb(signed)),
  ).toLowerCase();
  try {
    const hash = (await chain.rpc("eth_sendTransaction", [
      {
        from,
        to: call.to,
        data: call.data,
        value: quantity(call.value),
        gas: quantity(gasLimit),
        gasPrice: "0x0",
      },
    ])) as Hex;
    await waitUntilMined(chain, hash);
    const { raw_data, signature } = signed;
    chain.add({
      signed: { txID: txid, raw_data, raw_data_hex, signature },
      hash,
      gasLimit,
      intrinsicGas: intrinsic,
    });
  } catch (error) {
    if (error instanceof AnvilError) return refusal("CONTRACT_EXE_ERROR", txid, error.message);
    throw error;
  }
  return { result: true, txid };
}

/** Anvil accepts a transaction shortly before the block with it exists. */
async function waitUntilMined({ rpc }: TronChain, hash: Hex): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if ((await rpc("eth_getTransactionReceipt", [hash])) !== null) return;
    await delay(5);
  }
}

async function signatureRefusal(
  txid: string,
  signed: SignedTransaction,
): Promise<BroadcastAnswer | undefined> {
  const [signature, ...extraSignatures] = signed.signature ?? [];
  if (signature === undefined || extraSignatures.length > 0)
    return refusal("SIGERROR", txid, "Validate signature error: one signature is needed");
  const owner = evmAddress(signed.raw_data.contract[0].parameter.value.owner_address);
  try {
    const signer = await recoverAddress({ hash: `0x${txid}`, signature: `0x${bare(signature)}` });
    if (signer.toLowerCase() === owner) return undefined;
  } catch {
    // A missing signature counts as a wrong one.
  }
  return refusal("SIGERROR", txid, "Validate signature error: not the owner's signature");
}

async function timingRefusal(
  chain: TronChain,
  txid: string,
  { raw_data }: SignedTransaction,
): Promise<BroadcastAnswer | undefined> {
  if (chain.byId(txid) !== undefined) return refusal("DUP_TRANSACTION_ERROR", txid, "Dup transaction.");
  const head = await chain.block("head");
  if (head === undefined) return refusal("SERVER_BUSY", txid, "no head");
  const reference = BigInt(`0x${raw_data.ref_block_bytes}`);
  const behind = (head.number - reference) & 0xffffn;
  const referenceBlock = behind > head.number ? undefined : await chain.block(head.number - behind);
  if (referenceBlock?.id.slice(16, 32) !== raw_data.ref_block_hash)
    return refusal("TAPOS_ERROR", txid, "Tapos check error.");
  if (raw_data.expiration <= head.timestampMs || raw_data.expiration > head.timestampMs + MAX_EXPIRATION_MS)
    return refusal("TRANSACTION_EXPIRATION_ERROR", txid, "Transaction expired");
  return undefined;
}

type Call = { readonly to: Hex; readonly data: Hex; readonly value: bigint } | { readonly reason: string };

/** The transaction to execute in anvil. */
async function callOf(chain: TronChain, type: string, value: ContractValue): Promise<Call> {
  const isTransfer = type === "TransferContract";
  if (!isTransfer && type !== "TriggerSmartContract")
    return { reason: `contracts of the type ${type} are not simulated` };
  const to = evmAddress(isTransfer ? value.to_address : value.contract_address);
  if (to === undefined) return { reason: "Invalid toAddress" };
  const hasCode = (await chain.rpc("eth_getCode", [to, "latest"])) !== "0x";
  if (isTransfer) {
    const amount = BigInt(value.amount ?? 0);
    if (hasCode) return { reason: "Cannot transfer TRX to a smartContract." };
    if (amount <= 0n) return { reason: "Amount must be greater than 0." };
    return { to, data: "0x", value: amount };
  }
  if (!hasCode) return { reason: "No contract or not a smart contract" };
  return { to, data: `0x${value.data ?? ""}`, value: BigInt(value.call_value ?? 0) };
}

/** The gas that anvil charges for a transaction's bytes, and its minimum. */
function bytesGas(data: Hex): { readonly intrinsic: bigint; readonly minimum: bigint } {
  const bytes = data.slice(2).match(/../g) ?? [];
  const tokens = bytes.reduce((sum, byte) => sum + (byte === "00" ? 1 : 4), 0);
  return { intrinsic: 21_000n + 4n * BigInt(tokens), minimum: 21_000n + 10n * BigInt(tokens) };
}

function refusal(code: string, txid: string, message: string): BroadcastAnswer {
  return { code, txid, message: Buffer.from(message).toString("hex") };
}
