import { testTokenAbi } from "@causeway/contracts";
import { encodeFunctionData, erc20Abi, parseAbi, type Address } from "viem";
import { localDexContracts } from "./deploy-dex.ts";
import type { PipelinedCall } from "@causeway/testkit";

/** Calls that mint tokens of the local chains. Wrapped native tokens require native tokens of the sender. */
export function mintCalls(token: Address, to: Address, amount: bigint): PipelinedCall[] {
  const label = `mint of ${token} to ${to}`;
  if (!isWrappedNative(token)) {
    const mint = { abi: testTokenAbi, functionName: "mint", args: [to, amount] } as const;
    return [{ label, to: token, data: encodeFunctionData(mint) }];
  }
  const transfer = { abi: erc20Abi, functionName: "transfer", args: [to, amount] } as const;
  return [
    { label, to: token, value: amount, data: encodeFunctionData({ abi: parseAbi(["function deposit()"]) }) },
    { label, to: token, data: encodeFunctionData(transfer) },
  ];
}

/** Whether a token of the local chains is the wrapped native token. */
export function isWrappedNative(token: Address): boolean {
  return token.toLowerCase() === localDexContracts.weth9.toLowerCase();
}
