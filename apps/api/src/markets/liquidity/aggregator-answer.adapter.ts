import type { Address, Hex } from "@causeway/domain";
import { z } from "zod";

/** Maximum length of hex calldata. A swap has a few kilobytes; longer calldata is not worth its data fee. */
const MAX_CALLDATA = 2 + 2 * 64 * 1024;
const MAX_GAS = 10_000_000n;

const uint = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt);
const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => text.toLowerCase() as Address);
const bytes = z
  .string()
  .max(MAX_CALLDATA)
  .regex(/^0x([0-9a-fA-F]{2})*$/)
  .transform((text) => text.toLowerCase() as Hex);

/** Without liquidity, other fields may be missing. */
const noLiquidity = z.object({ liquidityAvailable: z.literal(false) });

/** The fields that `price` and `quote` answers share. */
const price = z.object({
  liquidityAvailable: z.literal(true).optional(),
  sellToken: address.optional(),
  buyToken: address.optional(),
  sellAmount: uint.optional(),
  buyAmount: uint,
  minBuyAmount: uint,
});

const quote = price.extend({
  allowanceTarget: address,
  transaction: z.object({ to: address, data: bytes, value: uint, gas: uint.nullish() }),
});

export type AggregatorPrice = z.output<typeof price>;
export type AggregatorQuote = z.output<typeof quote>;

/** The requested swap; an answer about any other swap is rejected. */
export interface AggregatorQuestion {
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly amountIn: bigint;
}

/**
 * Parses an answer of `price`. Undefined: the aggregator has no liquidity.
 * @throws ZodError for an invalid answer, RangeError when it does not answer the question
 */
export function readPrice(json: unknown, question: AggregatorQuestion): AggregatorPrice | undefined {
  if (noLiquidity.safeParse(json).success) return undefined;
  return checkAnswer(price.parse(json), question);
}

/**
 * Parses an answer of `quote`. Undefined: the aggregator has no liquidity. The router will make the call of
 * the answer, so the call must not send native tokens, and must not call or approve a `forbidden` address.
 * @throws as {@link readPrice}
 */
export function readQuote(
  json: unknown,
  question: AggregatorQuestion,
  forbidden: ReadonlySet<Address>,
): AggregatorQuote | undefined {
  if (noLiquidity.safeParse(json).success) return undefined;
  const parsed = checkAnswer(quote.parse(json), question);
  const { transaction, allowanceTarget } = parsed;
  if (transaction.value !== 0n)
    throw new RangeError("the response attaches native tokens to a swap whose input is another token");
  if ((transaction.gas ?? 0n) > MAX_GAS) throw new RangeError(`the swap requires more than ${MAX_GAS} gas`);
  for (const account of [transaction.to, allowanceTarget])
    if (BigInt(account) === 0n || forbidden.has(account))
      throw new RangeError(`the swap calls or approves a forbidden address: ${account}`);
  return parsed;
}

function checkAnswer<Answer extends AggregatorPrice>(answer: Answer, question: AggregatorQuestion): Answer {
  const { sellToken, buyToken, sellAmount, buyAmount, minBuyAmount } = answer;
  if ((sellToken ?? question.tokenIn) !== question.tokenIn)
    throw new RangeError("the response has a different input token than requested");
  if ((buyToken ?? question.tokenOut) !== question.tokenOut)
    throw new RangeError("the response has a different output token than requested");
  if ((sellAmount ?? question.amountIn) !== question.amountIn)
    throw new RangeError("the response has a different input amount than requested");
  if (buyAmount === 0n || minBuyAmount > buyAmount)
    throw new RangeError("the response has invalid output amounts");
  return answer;
}
