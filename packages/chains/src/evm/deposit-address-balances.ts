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

/** What one account has of one currency. */
export interface HeldAmount {
  readonly account: Address;
  /** Zero address = native. */
  readonly currency: Address;
  /** Smallest units; undefined: the token did not answer a number. */
  readonly amount: bigint | undefined;
}

/** Balances asked for in one call of a node: a word and some thousand gas each. */
const PER_CALL = 1_500;

/**
 * Balances of many accounts in several currencies, all at one block. A token that does not answer spoils only
 * its own amounts.
 * @throws RpcFault when the node did not say, or does not know the block (yet)
 */
export async function readHeldAmounts(
  transport: Pick<RpcTransport, "request">,
  multicall3: Address,
  question: {
    readonly accounts: readonly Address[];
    readonly currencies: readonly Address[];
    readonly atBlock: bigint;
  },
): Promise<HeldAmount[]> {
  const places = question.accounts.flatMap((account) =>
    question.currencies.map((currency) => ({ account, currency })),
  );
  const parts = Array.from({ length: Math.ceil(places.length / PER_CALL) }, (_, at) =>
    places.slice(at * PER_CALL, (at + 1) * PER_CALL),
  );
  const read = await Promise.all(
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
      return part.map((place, at): HeldAmount => ({ ...place, amount: numberIn(answers[at]) }));
    }),
  );
  return read.flat();
}

/** A token that answers with less than a word has said nothing. */
function numberIn(answer: string | undefined): bigint | undefined {
  return answer === undefined || answer.length < 66 ? undefined : BigInt(answer.slice(0, 66));
}
