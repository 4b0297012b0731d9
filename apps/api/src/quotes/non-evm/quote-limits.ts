import type { Currency } from "@causeway/domain";
import { pow10, ServiceError } from "@causeway/domain";
import type { RequestEnd } from "../../chains/chains.port.ts";
import type { Reservations } from "../../markets/quote.port.ts";
import { isBeyondCap, type RoutePricing } from "../../markets/index.ts";
import type { Side } from "../side.ts";
import type { RailQuestion } from "./quote-question.ts";
import { withinNodeLimit } from "../../db/within-node-limit.ts";
import {
  aboveMaxFill,
  inputOutOfRange,
  insufficientLiquidity,
  amountText,
  restrictedChain,
} from "../../http/refusals.ts";

export interface RailTrade {
  readonly input: bigint;
  readonly expected: bigint;
}

/** @throws ServiceError when the amount is outside the current limits of this instance or of a chain */
export function refuseBeyondRails(
  reservations: Reservations,
  { origin, destination, from, to, originCurrency, destinationCurrency }: RailQuestion,
  { facts, originNative }: RoutePricing,
  trade: RailTrade,
): void {
  refuseRestricted(
    origin,
    "originChainId",
    isBeyondCap(origin.chain, trade.input, facts.origin, originNative),
  );
  refuseRestricted(
    destination,
    "destinationChainId",
    isBeyondCap(destination.chain, trade.expected, facts.destination, facts.destinationNative),
  );
  refuseDust(origin, from, originCurrency, trade.input, "pays");
  refuseDust(destination, to, destinationCurrency, trade.expected, "gets");
  if (trade.input >> from.amountBits !== 0n) throw inputOutOfRange(originCurrency);

  const { maxFillAmount } = destinationCurrency;
  if (maxFillAmount !== undefined && trade.expected > maxFillAmount)
    throw aboveMaxFill(destinationCurrency, maxFillAmount);
  const { native } = destination.chain;
  const freeOf = ({ address }: Currency): bigint =>
    to.solverBalance(address) - reservations.reserved(destination.chain.id, address);
  const available = freeOf(destinationCurrency);
  const cost = facts.fillGasCostWei;
  if (destinationCurrency.address === native.address) {
    // The cost of the payment comes out of the same balance.
    if (trade.expected + cost > available) throw insufficientLiquidity(destinationCurrency, available - cost);
    return;
  }
  if (trade.expected > available) throw insufficientLiquidity(destinationCurrency, available);
  if (freeOf(native) < cost)
    throw new ServiceError(
      "INSUFFICIENT_LIQUIDITY",
      `Insufficient liquidity: the solver lacks ${native.symbol} for the fee of a payment on ${destination.chain.displayName}`,
      { field: "destinationChainId" },
    );
}

function refuseRestricted({ chain }: RequestEnd, field: string, isBeyond: boolean): void {
  if (isBeyond) throw restrictedChain(chain, field);
}

function refuseDust(
  { chain }: RequestEnd,
  { minPayment }: Side,
  currency: Currency,
  amount: bigint,
  word: "pays" | "gets",
): void {
  if (amount >= minPayment) return;
  const what = word === "pays" ? "a deposit" : "a payment";
  throw new ServiceError(
    "AMOUNT_TOO_LOW",
    `amount: ${what} on ${chain.displayName} must be at least ${amountText(minPayment, currency)}, got ${amount}`,
    { field: "amount", data: { minimumAmount: minPayment.toString() } },
  );
}

/**
 * Asks the chain whether the recipient can receive the amount: only it knows what a new account needs.
 * @throws ServiceError AMOUNT_TOO_LOW when a larger amount could be paid, INVALID_RECIPIENT when none could;
 * RPC_HTTP_ERROR when the chain does not answer
 */
export async function refuseUnpayable(
  { destination: { chain }, to, destinationCurrency: currency, recipient }: RailQuestion,
  amount: bigint,
): Promise<void> {
  const { refusalOf: askChain } = to;
  if (askChain === undefined) return;
  const refusalOf = async (of: bigint): Promise<string | undefined> => {
    try {
      const payment = { recipient, currency: currency.address, amount: of };
      return await withinNodeLimit(chain, "destinationChainId", () => askChain(payment));
    } catch (cause) {
      if (cause instanceof ServiceError) throw cause;
      throw new ServiceError(
        "RPC_HTTP_ERROR",
        `The node of ${chain.displayName} did not return whether the recipient can be paid; try again`,
        {
          field: "destinationChainId",
          cause,
        },
      );
    }
  };
  const reason = await refusalOf(amount);
  if (reason === undefined) return;
  // A limit on small payments does not affect a payment of a thousand whole units.
  const isAboutAmount = (await refusalOf(amount + 1_000n * pow10(currency.decimals))) === undefined;
  throw isAboutAmount
    ? new ServiceError(
        "AMOUNT_TOO_LOW",
        `amount is below what the recipient can receive on ${chain.displayName}: ${reason}`,
        {
          field: "amount",
        },
      )
    : new ServiceError("INVALID_RECIPIENT", `recipient cannot be paid on ${chain.displayName}: ${reason}`, {
        field: "recipient",
      });
}
