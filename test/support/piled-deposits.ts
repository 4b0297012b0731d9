import { depositNativeCalldata } from "@causeway/domain";
import type { Address, Hex, TxHash } from "@causeway/domain";
import type { LocalAccount } from "@causeway/localnet";
import { randomBytes } from "node:crypto";
import type { TestChain } from "./test-chain.ts";

/**
 * Sends a transaction that deposits one wei `count` times for `depositor` under the same id, at about 9,400
 * gas each. The transaction stays pending.
 */
export async function pileDeposits(
  { chain, client, send }: Pick<TestChain, "chain" | "client" | "send">,
  from: LocalAccount,
  { depositor, id, count }: { readonly depositor: Address; readonly id: Hex; readonly count: number },
): Promise<TxHash> {
  const contract: Address = `0x${randomBytes(20).toString("hex")}`;
  await client.setCode({
    address: contract,
    bytecode: pilingCode(chain.contracts.depository, depositNativeCalldata(depositor, id), count),
  });
  await client.setBalance({ address: contract, value: 10n ** 18n });
  return await send(from, { to: contract, gas: 100_000n + 10_000n * BigInt(count) });
}

/** Code that copies the calldata to memory, and then calls the depository with one wei in a loop. */
export function pilingCode(depository: Address, calldata: Hex, count: number): Hex {
  const data = calldata.slice(2);
  const size = (data.length / 2).toString(16).padStart(2, "0");
  const times = count.toString(16).padStart(4, "0");
  const codeBefore = (offset: string): string =>
    `60${size}61${offset}5f3961${times}5b5f5f60${size}5f600173${depository.slice(2)}5af1506001900380600a5700`;
  const offset = (codeBefore("0000").length / 2).toString(16).padStart(4, "0");
  return `0x${codeBefore(offset)}${data}`;
}
