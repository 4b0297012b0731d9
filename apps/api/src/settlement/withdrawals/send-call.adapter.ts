import type { Signer } from "@causeway/attest";
import { signTransaction } from "@causeway/chains";
import type { Address, Hex, TxHash } from "@causeway/domain";
import type { PublicClient } from "viem";
import { BaseError, ContractFunctionRevertedError, RawContractError, decodeErrorResult } from "viem";
import type { Abi } from "viem";
import { PayoutReverted } from "./withdrawals.port.ts";

/** How long to wait for a receipt. The next run first checks whether the call happened. */
const RECEIPT_WITHIN_MS = 180_000;
const POLL_MS = 500;

/** One call by an account whose nonces nothing else uses. */
export interface AccountCall {
  /** For error messages. */
  readonly what: string;
  readonly to: Address;
  readonly data: Hex;
  /** Names the contract's errors. */
  readonly abi: Abi;
}

/**
 * Sends a call and waits until it is mined. Stores nothing first: only for calls that a contract runs once
 * however often they are sent.
 * @throws PayoutReverted when it would revert, or did
 */
export async function sendCall(
  client: PublicClient,
  chainId: number,
  signer: Signer,
  { what, to, data, abi }: AccountCall,
): Promise<TxHash> {
  const from = signer.address;
  const estimated = await client.estimateGas({ account: from, to, data }).catch((error: unknown) => {
    throw revertOf(error, what, abi) ?? error;
  });
  const [nonce, fees] = await Promise.all([
    client.getTransactionCount({ address: from, blockTag: "pending" }),
    client.estimateFeesPerGas(),
  ]);
  const { raw, hash } = await signTransaction(
    { chainId, nonce, to, data, value: 0n, gas: (estimated * 3n) / 2n, ...fees },
    (digest) => signer.signDigest(digest),
  );
  await client.sendRawTransaction({ serializedTransaction: raw });
  const receipt = await client.waitForTransactionReceipt({
    hash,
    timeout: RECEIPT_WITHIN_MS,
    pollingInterval: POLL_MS,
  });
  if (receipt.status !== "success") throw new PayoutReverted(what, `transaction ${hash}`);
  return hash;
}

function revertOf(error: unknown, what: string, abi: Abi): PayoutReverted | undefined {
  if (!(error instanceof BaseError)) return undefined;
  const found = error.walk(
    (cause) =>
      cause instanceof ContractFunctionRevertedError ||
      cause instanceof RawContractError ||
      dataOf(cause) !== undefined,
  );
  const data = dataOf(found);
  if (data === undefined) return undefined;
  return new PayoutReverted(what, nameOf(data, abi));
}

function dataOf(error: unknown): Hex | undefined {
  if (typeof error !== "object" || error === null || !("data" in error)) return undefined;
  const { data } = error;
  return typeof data === "string" && data.startsWith("0x") ? (data as Hex) : undefined;
}

function nameOf(data: Hex, abi: Abi): string {
  try {
    return decodeErrorResult({ abi, data }).errorName;
  } catch {
    // An error of a contract behind the called one.
    return data.slice(0, 74);
  }
}
