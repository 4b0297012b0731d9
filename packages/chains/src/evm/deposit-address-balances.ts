import { NATIVE_CURRENCY, type Address } from "@causeway/domain";
import { bytesOf, toQuantity } from "@causeway/families/evm";
import {
  balanceCall,
  decodeAggregate3,
  encodeAggregate3,
  nativeBalanceCall,
  type SubCall,
} from "./multicall.ts";
import type { RpcTransport } from "../nodes/transport.ts";

/** One account's balance of one currency. */
export interface AccountBalance {
  readonly account: Address;
  /** Zero address = native. */
  readonly currency: Address;
  /** Base units; undefined: the token did not return a number. */
  readonly amount: bigint | undefined;
}

/** Balances per call: each takes a word and a few thousand gas. */
const MAX_BALANCES_PER_CALL = 1_500;

/**
 * Balances of many accounts in several currencies, all at one block. A token that fails affects only its own
 * amounts.
 * @throws RpcFault if the node does not answer, or does not have the block (yet)
 */
export async function readAccountBalances(
  transport: Pick<RpcTransport, "request">,
  multicall3: Address,
  question: {
    readonly accounts: readonly Address[];
    readonly currencies: readonly Address[];
    readonly atBlock: bigint;
  },
): Promise<AccountBalance[]> {
  const pairs = question.accounts.flatMap((account) =>
    question.currencies.map((currency) => ({ account, currency })),
  );
  const parts = Array.from({ length: Math.ceil(pairs.length / MAX_BALANCES_PER_CALL) }, (_, index) =>
    pairs.slice(index * MAX_BALANCES_PER_CALL, (index + 1) * MAX_BALANCES_PER_CALL),
  );
  const amounts = await Promise.all(
    parts.map(async (part) => {
      const calls = part.map(({ account, currency }): SubCall =>
        currency === NATIVE_CURRENCY
          ? nativeBalanceCall(multicall3, account)
          : balanceCall(currency, account),
      );
      const method = "eth_call";
      const params = [{ to: multicall3, data: encodeAggregate3(calls) }, toQuantity(question.atBlock)];
      const answers = decodeAggregate3(
        bytesOf(await transport.request(method, params), method),
        calls.length,
      );
      return part.map((pair, index): AccountBalance => ({ ...pair, amount: numberIn(answers[index]) }));
    }),
  );
  return amounts.flat();
}

/** Data shorter than a 32-byte word is not a number. */
function numberIn(answer: string | undefined): bigint | undefined {
  return answer === undefined || answer.length < 66 ? undefined : BigInt(answer.slice(0, 66));
}
