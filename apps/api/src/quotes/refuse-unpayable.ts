import type { Currency, Hex, RequestTerms } from "@causeway/domain";
import { pow10, ServiceError } from "@causeway/domain";
import type { AnyConnectedChain } from "../chains/chains.port.ts";
import { withinNodeLimit } from "../db/within-node-limit.ts";
import type { QuoteQuestion } from "./quote-question.ts";

/**
 * Asks the chain whether the recipient can receive the amount: only the chain knows what a new account needs.
 * @throws ServiceError AMOUNT_TOO_LOW when a larger amount could be paid, INVALID_RECIPIENT when none could;
 * RPC_HTTP_ERROR when the chain does not answer
 */
export async function refuseUnpayable(
  { destination: { chain }, to, destinationCurrency: currency, recipient }: QuoteQuestion,
  amount: bigint,
): Promise<void> {
  const { refusalOf: askChain } = to;
  if (askChain === undefined) return;
  const refused = await askRefusal(
    { chain, field: "destinationChainId", what: "whether the recipient can be paid" },
    { currency, amount },
    async (payment) => await askChain({ recipient, ...payment }),
  );
  if (refused === undefined) return;
  const { reason, isAboutAmount } = refused;
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

/**
 * Asks the chain whether the quoted amount can arrive at its deposit address and be swept.
 * @throws ServiceError AMOUNT_TOO_LOW when a larger amount could be, UNSUPPORTED_CURRENCY when none could;
 * RPC_HTTP_ERROR when the chain does not answer
 */
export async function refuseUnsweepable(
  { origin: { chain }, from, originCurrency: currency }: QuoteQuestion,
  { depositAddress, origin: { amount } }: RequestTerms,
): Promise<void> {
  const { addressRefusalOf: askChain } = from;
  if (depositAddress === undefined || askChain === undefined) return;
  const refused = await askRefusal(
    { chain, field: "originChainId", what: "whether a deposit address can be paid" },
    { currency, amount },
    askChain,
  );
  if (refused === undefined) return;
  const { reason, isAboutAmount } = refused;
  const message = `on ${chain.displayName} with useDepositAddress: ${reason}`;
  throw isAboutAmount
    ? new ServiceError("AMOUNT_TOO_LOW", `amount is too low ${message}`, { field: "amount" })
    : new ServiceError(
        "UNSUPPORTED_CURRENCY",
        `originCurrency ${currency.symbol} is not supported ${message}`,
        { field: "originCurrency" },
      );
}

/**
 * Why the chain would refuse an amount, and whether it would accept a larger amount. Undefined: it accepts.
 */
async function askRefusal(
  {
    chain,
    field,
    what,
  }: { readonly chain: AnyConnectedChain["chain"]; readonly field: string; readonly what: string },
  { currency, amount }: { readonly currency: Currency; readonly amount: bigint },
  askChain: (payment: { readonly currency: Hex; readonly amount: bigint }) => Promise<string | undefined>,
): Promise<{ readonly reason: string; readonly isAboutAmount: boolean } | undefined> {
  const refusalOf = async (paid: bigint): Promise<string | undefined> => {
    try {
      const payment = { currency: currency.address, amount: paid };
      return await withinNodeLimit(chain, field, () => askChain(payment));
    } catch (cause) {
      if (cause instanceof ServiceError) throw cause;
      throw new ServiceError(
        "RPC_HTTP_ERROR",
        `The node of ${chain.displayName} did not return ${what}; try again`,
        {
          field,
          cause,
        },
      );
    }
  };
  const reason = await refusalOf(amount);
  if (reason === undefined) return undefined;
  // If a payment of a thousand whole units is refused too, the reason is not the amount.
  const refusalOfLarger = await refusalOf(amount + 1_000n * pow10(currency.decimals));
  return { reason, isAboutAmount: refusalOfLarger === undefined };
}
