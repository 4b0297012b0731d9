import { setTimeout as sleep } from "node:timers/promises";
import { encodeFunctionData, encodePacked, erc20Abi, type Address, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { LocalAccount } from "./accounts.ts";
import { ANSWER_WITHIN_MS, createLocalClient, sendPipelined, type NodeAddress } from "@causeway/testkit";

/** Markers before and after the address to credit, appended to the calldata of a transfer to the solver. */
const marker: Hex = "0x012345abcdef";

/** A top-up of an app balance. */
export interface TopUp {
  readonly token: Address;
  /** Base units. */
  readonly amount: bigint;
  readonly from: LocalAccount;
  readonly solver: Address;
  /** Wallet whose app balance is credited; the zero address means the payer. */
  readonly credited: Address;
}

/** The calldata of a transfer that tops up an app balance. */
export function topUpCalldata({
  solver,
  amount,
  credited,
}: Pick<TopUp, "solver" | "amount" | "credited">): Hex {
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [solver, amount] });
  return encodePacked(["bytes", "bytes6", "address", "bytes6"], [transfer, marker, credited, marker]);
}

/**
 * Sends and mines the top-up immediately. The service credits it once it has the confirmations that its
 * amount requires.
 *
 * @throws LocalTransactionFailed
 */
export async function topUp(node: NodeAddress, deposit: TopUp): Promise<void> {
  const calls = [{ label: "deposit to the app balance", to: deposit.token, data: topUpCalldata(deposit) }];
  const payer = privateKeyToAccount(deposit.from.privateKey);
  await sendPipelined(createLocalClient(node), payer, calls, 150_000n);
}

/** The fields of one asset in `GET /app-fees/{wallet}/balances` that are needed here. */
interface BalancesAnswer {
  readonly balances: readonly {
    readonly currency: { readonly address: string };
    readonly amount: string;
  }[];
}

/** A wallet's app balance in one token according to the service, in base units. */
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
 * Waits until a wallet's app balance in a token is at least this amount.
 *
 * @throws Error if the deadline passes first
 */
export async function waitForAppBalance(
  apiUrl: string,
  expected: { readonly wallet: Address; readonly token: Address; readonly amount: bigint },
  deadline: AbortSignal,
): Promise<bigint> {
  for (;;) {
    const amount = await readAppBalance(apiUrl, expected.wallet, expected.token);
    if (amount >= expected.amount) return amount;
    if (deadline.aborted)
      throw new Error(`app balance of ${expected.wallet} is ${amount}, expected ${expected.amount}`);
    await sleep(100);
  }
}
