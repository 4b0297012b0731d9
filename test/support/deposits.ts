import { testTokenAbi } from "@causeway/contracts";
import { NATIVE_CURRENCY, depositErc20Calldata, depositNativeCalldata } from "@causeway/domain";
import type { Address, Hex, TxHash } from "@causeway/domain";
import type { LocalAccount } from "@causeway/localnet";
import { encodeFunctionData } from "viem";
import type { QuotedRequest } from "./engine-world.ts";
import type { TestChain } from "./test-chain.ts";

/** How a deposit deviates from the one that a quote requests. */
export interface Deviation {
  readonly amount?: bigint;
  readonly currency?: Address;
  /** The depositor that the deposit names. Default: the user. */
  readonly depositor?: Address;
  readonly id?: Hex;
}

/** Deposits as wallets do, with the deviations of a test. The deposit stays pending. Returns its hash. */
export async function deposit(
  chain: TestChain,
  from: LocalAccount,
  { terms }: Pick<QuotedRequest, "terms">,
  deviation: Deviation = {},
): Promise<TxHash> {
  const { depository } = chain.chain.contracts;
  const {
    amount = terms.origin.amount,
    currency = terms.origin.currency,
    depositor = terms.user,
    id = terms.orderId,
  } = deviation;
  if (currency === NATIVE_CURRENCY)
    return await chain.send(from, {
      to: depository,
      data: depositNativeCalldata(depositor, id),
      value: amount,
    });
  await chain.send(from, {
    to: currency,
    data: encodeFunctionData({ abi: testTokenAbi, functionName: "approve", args: [depository, amount] }),
  });
  return await chain.send(from, {
    to: depository,
    data: depositErc20Calldata(depositor, currency, amount, id),
  });
}
