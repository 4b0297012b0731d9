import { hubAlias, hubTokenId } from "@causeway/attest";
import { hubAbi } from "@causeway/contracts";
import { createLocalClient, sendAndWait, type RunningAnvil } from "@causeway/testkit";
import { encodeFunctionData, erc20Abi, maxUint256, parseEther } from "viem";
import type { Address, Hex, LocalAccount } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import type { KmsAccount } from "./kms-account.ts";

/** Chains, and USDC on Ethereum and Base. */
interface Chains {
  readonly ethereum: RunningAnvil;
  readonly base: RunningAnvil;
  readonly hub: RunningAnvil;
  readonly usdc: Address;
}

export interface Call {
  readonly to?: Address;
  readonly data?: Hex;
  readonly value?: bigint;
}

/** An account with native tokens on every chain, and USDC on Ethereum and Base. */
export const treasury = mnemonicToAccount("test test test test test test test test test test test junk");

const GAS = 4_000_000n;

/** Sends transactions with consecutive nonces, and waits until all are mined. */
export async function sendFrom(account: LocalAccount, chain: RunningAnvil, calls: readonly Call[]) {
  const client = createLocalClient(chain);
  const firstNonce = await client.getTransactionCount({ address: account.address });
  const signed = await Promise.all(
    calls.map(async (call, at) => ({
      label: `transaction ${at + 1} of ${account.address}`,
      bytes: await account.signTransaction({
        type: "eip1559",
        chainId: chain.chainId,
        nonce: firstNonce + at,
        gas: GAS,
        maxFeePerGas: 20_000_000_000n,
        maxPriorityFeePerGas: 1_000_000_000n,
        ...call,
      }),
    })),
  );
  return await sendAndWait(client, signed);
}

/** A transfer of native tokens, and a transfer of USDC if `amounts.usdc` is set. */
export function transfers(
  { usdc }: Pick<Chains, "usdc">,
  to: Address,
  amounts: { readonly eth: string; readonly usdc?: bigint },
): readonly Call[] {
  const native = { to, value: parseEther(amounts.eth) };
  if (amounts.usdc === undefined) return [native];
  const transfer = { abi: erc20Abi, functionName: "transfer", args: [to, amounts.usdc] } as const;
  return [native, { to: usdc, data: encodeFunctionData(transfer) }];
}

/** Sends funds and gas to new accounts and makes their approvals, as docs/operations/money.md says. */
export async function fundAccounts(
  chains: Chains,
  accounts: {
    readonly solver: KmsAccount;
    readonly others: readonly KmsAccount[];
    readonly approvalProxy: Address;
  },
): Promise<void> {
  const { solver, others, approvalProxy } = accounts;
  const approve = { abi: erc20Abi, functionName: "approve", args: [approvalProxy, maxUint256] } as const;
  const inventory = transfers(chains, solver.account.address, { eth: "50", usdc: 10n ** 10n });
  const gas = others.flatMap(({ account }) => transfers(chains, account.address, { eth: "1" }));
  await Promise.all([
    ...[chains.ethereum, chains.base].map(async (chain) => {
      await sendFrom(treasury, chain, [...inventory, ...gas]);
      await sendFrom(solver.account, chain, [{ to: chains.usdc, data: encodeFunctionData(approve) }]);
    }),
    sendFrom(treasury, chains.hub, transfers(chains, solver.account.address, { eth: "10" })),
  ]);
}

/** The USDC on Ethereum that the hub owes an account of the solver. */
export async function hubBalanceOf(
  { hub, usdc }: Pick<Chains, "hub" | "usdc">,
  hubAddress: Address,
  { account }: KmsAccount,
): Promise<bigint> {
  const chain = { name: "ethereum", vmType: "ethereum-vm" } as const;
  return await createLocalClient(hub).readContract({
    address: hubAddress,
    abi: hubAbi,
    functionName: "balanceOf",
    args: [hubAlias(chain, account.address), hubTokenId(chain, usdc)],
  });
}
