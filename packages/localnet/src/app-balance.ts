import { setTimeout as sleep } from "node:timers/promises";
import { encodeFunctionData, encodePacked, erc20Abi, type Address, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { LocalAccount } from "./accounts.ts";
import { ANSWER_WITHIN_MS, createLocalClient, sendPipelined, type NodeAddress } from "@causeway/testkit";

/** Before and after the address to credit, behind the calldata of a transfer to the solver. */
const marker: Hex = "0x012345abcdef";

/** A deposit to an app balance: who pays which token to whom, and for whom. */
export interface TopUp {
  readonly token: Address;
  /** Smallest units. */
  readonly amount: bigint;
  readonly from: LocalAccount;
  readonly solver: Address;
  /** Whose app balance grows; the zero address is the payer's own. */
  readonly credited: Address;
}

/** The calldata of a transfer that is a deposit to an app balance. */
export function topUpCalldata({
  solver,
  amount,
  credited,
}: Pick<TopUp, "solver" | "amount" | "credited">): Hex {
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [solver, amount] });
  return encodePacked(["bytes", "bytes6", "address", "bytes6"], [transfer, marker, credited, marker]);
}

/**
 * Sends it and mines it at once; the service takes notice when it is as deep as its amount asks.
 *
 * @throws LocalTransactionFailed
 */
export async function topUp(node: NodeAddress, deposit: TopUp): Promise<void> {
  const calls = [{ label: "deposit to the app balance", to: deposit.token, data: topUpCalldata(deposit) }];
  const payer = privateKeyToAccount(deposit.from.privateKey);
  await sendPipelined(createLocalClient(node), payer, calls, 150_000n);
}

/**
 * What `GET /app-fees/{wallet}/balances` says of one asset; the rest of its answer is of no interest here.
 */
interface BalancesAnswer {
  readonly balances: readonly {
    readonly currency: { readonly address: string };
    readonly amount: string;
  }[];
}

/** What the service says a wallet has with it of one token, in smallest units. */
export async function readAppBalance(apiUrl: string, wallet: Address, token: Address): Promise<bigint> {
  const response = await fetch(`${apiUrl}/app-fees/${wallet}/balances`, {
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  if (!response.ok) throw new Error(`app balance of ${wallet}: ${response.status} ${await response.text()}`);
  const { balances } = (await response.json()) as BalancesAnswer;
  const entry = balances.find(({ currency }) => currency.address.toLowerCase() === token.toLowerCase());
  return BigInt(entry?.amount ?? 0);
}

/**
 * Waits until a wallet has at least this much of a token with the service.
 *
 * @throws Error when the deadline passes first
 */
export async function untilAppBalance(
  apiUrl: string,
  wanted: { readonly wallet: Address; readonly token: Address; readonly amount: bigint },
  deadline: AbortSignal,
): Promise<bigint> {
  for (;;) {
    const amount = await readAppBalance(apiUrl, wanted.wallet, wanted.token);
    if (amount >= wanted.amount) return amount;
    if (deadline.aborted)
      throw new Error(`app balance of ${wanted.wallet} is ${amount}, expected ${wanted.amount}`);
    await sleep(100);
  }
}
