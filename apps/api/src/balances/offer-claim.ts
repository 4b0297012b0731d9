import {
  NATIVE_CURRENCY,
  ServiceError,
  availableFor,
  claimIdOf,
  convertUp,
  gasCostWei,
  usdToAmountDown,
} from "@causeway/domain";
import type { Address, Currency, PricedUnit } from "@causeway/domain";
import type { BalanceReads } from "./balance-reads.port.ts";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { ClaimRecord, NewClaim } from "./claims.port.ts";
import type { Random } from "../db/random.port.ts";
import type { Services } from "../db/services.port.ts";
import { gasOf } from "../markets/index.ts";
import { appraise, warmPrices } from "./appraise.ts";
import type { AppraisalServices } from "./appraise.ts";
import { lineOf } from "./credit-entries.ts";
import { amountText } from "../http/refusals.ts";

export type OfferServices = Pick<
  Services,
  "clock" | "chains" | "prices" | "signer" | "uow" | "quotePolicy" | "appBalance"
> & { readonly balances: Pick<BalanceReads, "book">; readonly random: Random };

/**
 * A request to claim from a wallet's balance. It is not authorized yet: only the wallet's signature
 * authorizes the claim.
 */
export interface ClaimQuestion {
  readonly wallet: Address;
  readonly chainId: number;
  readonly currency: Address;
  readonly recipient: Address;
  /** Base units; undefined: the whole available balance. */
  readonly amount: bigint | undefined;
}

/**
 * Offers a claim for the wallet to sign, with the cost of its payout. Moves no funds.
 * @throws ServiceError UNSUPPORTED_CHAIN, UNSUPPORTED_CURRENCY, INVALID_RECIPIENT, AMOUNT_TOO_LOW,
 * INSUFFICIENT_FUNDS; PRICE_FETCH_FAILED, RPC_HTTP_ERROR
 */
export async function offerClaim(services: OfferServices, question: ClaimQuestion): Promise<NewClaim> {
  const { wallet, recipient } = question;
  const { connected, currency } = requireAppBalanceCurrency(services, question);
  const { chain } = connected;
  const forbiddenRecipients: readonly Address[] = [
    NATIVE_CURRENCY,
    services.signer.address,
    ...chain.tokens.map(({ address }) => address),
  ];
  if (forbiddenRecipients.includes(recipient))
    throw new ServiceError(
      "INVALID_RECIPIENT",
      "recipient must be a wallet, not the zero address, the solver or a token contract",
      {
        field: "recipient",
      },
    );
  await warmPrices(services);
  const feeAmount = await payoutFee(services, connected, currency);
  const maxAmount = await claimableAmount(services, question, currency, feeAmount);
  const amount = question.amount ?? maxAmount;
  if (amount === 0n)
    throw new ServiceError(
      "AMOUNT_TOO_LOW",
      `amount: the available app balance must exceed the payout fee of ${amountText(feeAmount, currency)}`,
      {
        field: "amount",
      },
    );
  if (amount > maxAmount) throw insufficientFunds(amount, feeAmount);

  const createdAtMs = services.clock.nowMs();
  const expiresAt = Math.floor(createdAtMs / 1000) + services.appBalance.claimLifetimeSeconds;
  const facts = { wallet, chainId: chain.id, currency: currency.address, recipient, amount, expiresAt };
  const claim: NewClaim = {
    ...facts,
    claimId: claimIdOf({ ...facts, salt: services.random.bytes32() }),
    feeAmount,
    createdAtMs,
  };
  await services.uow.run((tx) => tx.claims.offer(claim));
  return claim;
}

/** @throws ServiceError UNSUPPORTED_CHAIN, UNSUPPORTED_CURRENCY */
function requireAppBalanceCurrency(
  { chains, appBalance }: Pick<Services, "chains" | "appBalance">,
  { chainId, currency: address }: Pick<ClaimQuestion, "chainId" | "currency">,
): { readonly connected: ConnectedChain; readonly currency: Currency } {
  const connected = chains.get(appBalance.chainId);
  if (connected === undefined || chainId !== appBalance.chainId)
    throw new ServiceError(
      "UNSUPPORTED_CHAIN",
      `chainId must be ${appBalance.chainId}, the chain of app balances, got ${chainId}`,
      {
        field: "chainId",
      },
    );
  const currency = appBalance.currencies.find((currency) => currency.address === address);
  if (currency === undefined)
    throw new ServiceError(
      "UNSUPPORTED_CURRENCY",
      `currency must be one of the app balance currencies: ${appBalance.currencies.map(({ symbol, address }) => `${symbol} (${address})`).join(", ")}`,
      {
        field: "currency",
      },
    );
  return { connected, currency };
}

/** The cost of the payout's gas at current prices, base units of `currency`, rounded up. */
async function payoutFee(
  services: Pick<Services, "prices" | "quotePolicy">,
  { chain, pulse }: ConnectedChain,
  currency: Currency,
): Promise<bigint> {
  const gasUnits = gasOf(services.quotePolicy.gas.fill, currency, false);
  const { minPriorityFeeWei, gasMarginBps } = chain.fees;
  const wei = gasCostWei(gasUnits, pulse.gasPrices(), minPriorityFeeWei, gasMarginBps);
  if (currency.address === NATIVE_CURRENCY) return wei;
  const [native, priced] = await Promise.all(
    [chain.native, currency].map(async (asset): Promise<PricedUnit> => ({
      decimals: asset.decimals,
      priceUsd: await services.prices.usd(asset),
    })),
  );
  if (native === undefined || priced === undefined)
    throw new Error("invariant violated: fewer than two prices for two currencies");
  return convertUp(wei, native, priced);
}

/**
 * The maximum that can be claimed now, after its fee.
 * @throws ServiceError PRICE_FETCH_FAILED
 */
async function claimableAmount(
  services: OfferServices,
  { wallet, amount }: Pick<ClaimQuestion, "wallet" | "amount">,
  currency: Currency,
  feeAmount: bigint,
): Promise<bigint> {
  const book = await services.balances.book(wallet);
  const asset = { chainId: currency.chainId, currency: currency.address };
  const { balance } = lineOf(book, asset);
  const required = (amount ?? 1n) + feeAmount;
  const free =
    hasHoldsOrDebts(book) && balance >= required ? freeAmount(services, book, currency, required) : balance;
  const maxAmount = (free < balance ? free : balance) - feeAmount;
  return maxAmount > 0n ? maxAmount : 0n;
}

type Book = Awaited<ReturnType<BalanceReads["book"]>>;

/** Whether holds or debts limit what is available. Without them, no prices are needed. */
export function hasHoldsOrDebts(book: Book): boolean {
  return book.heldUsd > 0n || book.lines.some(({ owed }) => owed > 0n);
}

/**
 * Base units of `currency` that holds and debts leave free, regardless of the balance.
 * @throws ServiceError PRICE_FETCH_FAILED when less than `required` is free and a missing price may be the
 * cause
 */
export function freeAmount(
  services: AppraisalServices,
  book: Book,
  currency: Currency,
  required: bigint,
): bigint {
  const { standing, balances, unpriced, unpricedHold } = appraise(services, book);
  const line = balances.find(({ asset }) => asset.currency === currency.address);
  const free = line === undefined ? 0n : usdToAmountDown(availableFor("claim", standing), line.unit);
  const missingPrice = unpriced ?? unpricedHold;
  if (missingPrice !== undefined && free < required) throw missingPrice;
  return free;
}

export function insufficientFunds(
  amount: bigint,
  feeAmount: bigint,
  claim?: Pick<ClaimRecord, "claimId">,
): ServiceError {
  return new ServiceError(
    "INSUFFICIENT_FUNDS",
    `amount ${amount} plus the payout fee ${feeAmount} (base units) exceeds the available app balance; lower amount`,
    {
      field: "amount",
      data: { amount: amount.toString(), fee: feeAmount.toString() },
      ...(claim && { requestId: claim.claimId }),
    },
  );
}
