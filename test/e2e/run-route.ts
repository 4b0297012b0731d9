import { decodeFunctionData, erc20Abi, zeroAddress, type Address } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import type { Client, Quote, Wallet } from "./client.ts";
import type { Pair, TradeType } from "./route-pairs.ts";

/** A quote that was inconsistent or not honored. */
export class NotAsQuoted extends Error {
  override readonly name = "NotAsQuoted";
}

/** What a route cost the user, and what the recipient received. */
export interface RouteResult {
  readonly operation: string;
  /** What the user spent, in base units of the paid currency, without gas. */
  readonly spent: bigint;
  /** The gas cost of all transactions, in wei. */
  readonly gasWei: bigint;
  readonly recipient: Address;
  readonly received: bigint;
}

const TIMEOUT_MS = 60_000;
const POLL_EVERY_MS = 200;
/**
 * Maximum attempts to get all quotes of a comparison at the same prices: a new block may change prices in
 * between.
 */
const COMPARISONS = 30;

/**
 * Quotes a pair and executes the quote as any client would, to a new recipient. The user must not send
 * anything else in the meantime.
 * @throws NotAsQuoted if the quote is inconsistent, its input is not minimal, or the delivered or spent
 * amount is not as quoted
 */
export async function runRoute(
  api: Client,
  user: Wallet,
  pair: Pair,
  tradeType: TradeType,
): Promise<RouteResult> {
  const { origin, destination, pay, receive } = pair;
  const recipient = privateKeyToAddress(generatePrivateKey());
  const request = {
    user: user.address,
    recipient,
    originChainId: origin.id,
    destinationChainId: destination.id,
    originCurrency: pay.address,
    destinationCurrency: receive.address,
  };
  const requestedAmount = pair.requestedAmount(tradeType);
  const quoteFor = async (type: TradeType, amount: bigint): Promise<Quote> =>
    await api.quote({
      ...request,
      tradeType: type,
      amount: amount.toString(),
      // Otherwise the recipient would also get the surplus if a pool's price improved.
      ...(type === "EXACT_OUTPUT" && { enableTrueExactOutput: true }),
    });
  if (tradeType !== "EXACT_INPUT") await expectMinInput(quoteFor, tradeType, requestedAmount);

  const before = await user.balance(origin.id, pay.address, user.address);
  const quote = await quoteFor(tradeType, requestedAmount);
  const { amountIn, amountOut, minimum } = expectConsistent(
    quote,
    pair,
    tradeType,
    requestedAmount,
    recipient,
    user.address,
  );
  const { hash, gasWei } = await user.execute(quote);
  const data = quote.steps.at(-1)?.items.at(-1)?.data;
  const report = { requestId: quote.requestId, chainId: origin.id };
  if (quote.steps.at(-1)?.id === "deposit") await api.index({ ...report, txHash: hash });
  else await api.single({ ...report, tx: { ...data, txHash: hash } });
  const end = (await api.follow(quote.requestId, TIMEOUT_MS, POLL_EVERY_MS)).at(-1);
  check(end?.status === "success", `ended with ${end?.status} (${end?.failReason}), expected success`);

  const received = await user.balance(destination.id, receive.address, recipient);
  check(received >= minimum, `delivered ${received}, expected at least ${minimum}`);
  // Only a route through pools may deliver more than quoted, and never for an exact output.
  if (tradeType === "EXACT_OUTPUT" || !usesPool(pair))
    check(received <= amountOut, `delivered ${received}, expected at most ${amountOut}`);

  const lost = before - (await user.balance(origin.id, pay.address, user.address));
  const spent = pay.address === zeroAddress ? lost - gasWei : lost;
  // A user who buys an exact output in their own transaction pays its current cost, limited by the approval.
  // All other users pay the quoted amount.
  const maxSpent = isOwnPurchase(quote, tradeType) ? maxSpentBy(quote) : amountIn;
  check(spent <= maxSpent, `spent ${spent}, expected at most ${maxSpent}`);
  if (maxSpent === amountIn) check(spent === amountIn, `spent ${spent}, expected ${amountIn}`);
  check(spent > 0n, "spent nothing");
  return { operation: quote.details.operation, spent, gasWei, recipient, received };
}

/** Checks that the quote matches the request, and that its parts match each other. */
function expectConsistent(
  quote: Quote,
  pair: Pair,
  tradeType: TradeType,
  requestedAmount: bigint,
  recipient: Address,
  user: Address,
): { amountIn: bigint; amountOut: bigint; minimum: bigint } {
  const { details } = quote;
  const { currencyIn, currencyOut, route } = details;
  const [amountIn, amountOut, minimum] = [
    BigInt(currencyIn.amount),
    BigInt(currencyOut.amount),
    BigInt(currencyOut.minimumAmount),
  ];
  const quotedAmount = tradeType === "EXACT_INPUT" ? amountIn : amountOut;
  check(quotedAmount === requestedAmount, `quoted ${quotedAmount}, requested ${requestedAmount}`);
  check(
    0n < minimum && minimum <= amountOut,
    `the minimum ${minimum} must be positive and at most ${amountOut}`,
  );
  if (tradeType === "EXACT_OUTPUT")
    check(
      minimum === requestedAmount,
      `the minimum of an exact output must equal the requested amount, got ${minimum}`,
    );
  check(isSame(details.sender, user), `sender ${details.sender}`);
  check(isSame(details.recipient, recipient), `recipient ${details.recipient}`);
  const operations = operationsOf(pair);
  check(
    operations.includes(details.operation),
    `operation is ${details.operation}, expected ${operations.join(" or ")}`,
  );
  for (const [field, quotedSide, chain, currency] of [
    ["currencyIn", currencyIn, pair.origin, pair.pay],
    ["currencyOut", currencyOut, pair.destination, pair.receive],
  ] as const)
    check(
      quotedSide.currency.chainId === chain.id && isSame(quotedSide.currency.address, currency.address),
      `${field} is ${quotedSide.currency.address} of ${quotedSide.currency.chainId}`,
    );
  check(route.origin.inputCurrency.amount === currencyIn.amount, "the route starts with another amount");
  check(route.destination.outputCurrency.amount === currencyOut.amount, "the route ends with another amount");
  return { amountIn, amountOut, minimum };
}

/**
 * Checks in quotes at the same prices that the input buys the requested output, and that an input of one unit
 * less does not.
 */
async function expectMinInput(
  quoteFor: (tradeType: TradeType, amount: bigint) => Promise<Quote>,
  tradeType: TradeType,
  requestedAmount: bigint,
): Promise<void> {
  const inputFor = async (): Promise<bigint> =>
    BigInt((await quoteFor(tradeType, requestedAmount)).details.currencyIn.amount);
  const boughtBy = async (input: bigint): Promise<bigint> =>
    BigInt((await quoteFor("EXACT_INPUT", input)).details.currencyOut.amount);
  let input = await inputFor();
  for (let comparison = 0; comparison < COMPARISONS; comparison++) {
    // The quotes are requested concurrently. If a new block changes prices in between, the first and the last
    // quote differ.
    const [first, enough, less, last] = await Promise.all([
      inputFor(),
      boughtBy(input),
      boughtBy(input - 1n),
      inputFor(),
    ]);
    if (first === input && last === input) {
      check(
        enough >= requestedAmount,
        `input ${input} was quoted for ${requestedAmount}, but buys ${enough}`,
      );
      check(
        less < requestedAmount,
        `input ${input} was quoted for ${requestedAmount}, but one unit less suffices`,
      );
      return;
    }
    input = last;
  }
  throw new NotAsQuoted(`prices changed during all ${COMPARISONS} comparisons`);
}

function operationsOf({ origin, destination, pay, receive }: Pair): string[] {
  const symbols = `${pay.symbol} ${receive.symbol}`;
  if (origin === destination) {
    if (pay === receive) return ["send"];
    if (symbols === "ETH WETH") return ["wrap"];
    return [symbols === "WETH ETH" ? "unwrap" : "swap"];
  }
  return [pay.symbol === receive.symbol ? "bridge" : "swap"];
}

/** Whether the route goes through a pool. */
function usesPool({ pay, receive }: Pair): boolean {
  const held = new Set(["ETH", "USDC", "TST"]);
  return !held.has(pay.symbol) || !held.has(receive.symbol) || pay.symbol !== receive.symbol;
}

function isOwnPurchase({ steps }: Quote, tradeType: TradeType): boolean {
  return tradeType === "EXACT_OUTPUT" && steps.at(-1)?.id === "swap";
}

/** The maximum that the steps allow anyone to take: the value sent, or the approved amount. */
function maxSpentBy({ steps }: Quote): bigint {
  const [swap, approval] = [steps.at(-1), steps.at(-2)].map((step) => step?.items.at(-1)?.data);
  if (approval === undefined) return BigInt(swap?.value ?? 0);
  const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data: approval.data });
  if (functionName !== "approve") throw new NotAsQuoted(`${functionName} before a swap`);
  return args[1];
}

const isSame = (address: Address, other: Address): boolean => address.toLowerCase() === other.toLowerCase();

function check(condition: boolean, message: string): void {
  if (!condition) throw new NotAsQuoted(message);
}
