import type { Address, AppFee, ErrorCode, FeeComponent, FixedRate } from "@causeway/domain";
import {
  appBpsOf,
  DEFAULT_SPONSORED,
  DEFAULT_TOPUP_USD,
  feeComponents,
  mergeAppFees,
  MICRO_USD,
  MOST_APP_FEE_BPS,
  NATIVE_CURRENCY,
  parseAddress,
  parseFixedRate,
  ServiceError,
} from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import type { AskingKey } from "../../ports/sponsors.ts";
import { isPublishable } from "../api-keys/publishable-key.ts";

/** What a client says about fees: what apps take, and what an app pays. */
export interface FeeWishes {
  readonly appFees: readonly AppFee[];
  /** Absent: the user pays everything. */
  readonly sponsor?: SponsorWish;
  /** What the recipient gets as coin for gas, USD with 18 decimals; absent: nothing. */
  readonly topupUsd?: bigint;
}

export interface SponsorWish {
  readonly wallet: Address;
  readonly selected: ReadonlySet<FeeComponent>;
  /** USD with 18 decimals; undefined: as much as the key's rules allow. */
  readonly maxUsd: bigint | undefined;
  readonly fixedRate: FixedRate | undefined;
}

/**
 * Undefined: nothing is said about fees, as in most quotes.
 * @param hasBalances this instance keeps app balances
 * @throws ServiceError INVALID_REQUEST, INVALID_ADDRESS, UNAUTHORIZED, FORBIDDEN, UNSUPPORTED_EXECUTION_TYPE naming the field
 */
export function readFeeWishes(
  input: QuoteInput,
  key: AskingKey | undefined,
  hasBalances: boolean,
): FeeWishes | undefined {
  const appFees = input.appFees === undefined ? NO_FEES : appFeesOf(input.appFees);
  const sponsor = sponsorOf(input, key);
  const topupUsd = input.topupGas === true ? topupOf(input) : 0n;
  if (appFees.length === 0 && sponsor === undefined && topupUsd === 0n) return undefined;
  if (!hasBalances && (appFees.length > 0 || sponsor !== undefined))
    throw refusal(
      "UNSUPPORTED_EXECUTION_TYPE",
      "This instance keeps no app balances",
      appFees.length > 0 ? "appFees" : "subsidizeFees",
    );
  return { appFees, ...(sponsor !== undefined && { sponsor }), ...(topupUsd > 0n && { topupUsd }) };
}

const NO_FEES: readonly AppFee[] = [];

function appFeesOf(asked: NonNullable<QuoteInput["appFees"]>): readonly AppFee[] {
  const fees = mergeAppFees(
    asked.map(({ recipient: text, fee }) => {
      const recipient = parseAddress(text);
      if (recipient === undefined || recipient === NATIVE_CURRENCY)
        throw refusal("INVALID_ADDRESS", "recipients of appFees must be 20-byte addresses", "appFees");
      return { recipient, bps: Number(fee) };
    }),
  );
  if (fees.length > MOST_RECIPIENTS)
    throw refusal("INVALID_REQUEST", `appFees may go to at most ${MOST_RECIPIENTS} recipients`, "appFees");
  if (appBpsOf(fees) > MOST_APP_FEE_BPS)
    throw refusal(
      "INVALID_REQUEST",
      `appFees may take at most ${MOST_APP_FEE_BPS} bps of the input together`,
      "appFees",
    );
  return fees;
}

/** Each costs a movement of the ledger when the fill is final. */
const MOST_RECIPIENTS = 10;

function sponsorOf(input: QuoteInput, key: AskingKey | undefined): SponsorWish | undefined {
  const { sponsoredFeeComponents: names, fixedRate, maxSubsidizationAmount: max } = input;
  if (input.subsidizeFees !== true) {
    if (names !== undefined && names.length > 0)
      throw refusal(
        "INVALID_REQUEST",
        "sponsoredFeeComponents needs subsidizeFees",
        "sponsoredFeeComponents",
      );
    if (fixedRate !== undefined)
      throw refusal("INVALID_REQUEST", "fixedRate needs subsidizeFees: a sponsor keeps it", "fixedRate");
    return undefined;
  }
  if (input.useDepositAddress === true)
    throw refusal(
      "UNSUPPORTED_EXECUTION_TYPE",
      "Fees of what comes through a deposit address are not sponsored",
      "subsidizeFees",
    );
  if (key === undefined)
    throw refusal("UNAUTHORIZED", "subsidizeFees needs an API key, whose app balance pays", "subsidizeFees");
  if (key.fundingAddress === undefined)
    throw refusal("FORBIDDEN", "the API key is funded by no wallet", "subsidizeFees");
  if (isPublishable(key))
    throw refusal("FORBIDDEN", "a publishable API key pays for nobody", "subsidizeFees");
  const rate = fixedRate === undefined ? undefined : parseFixedRate(fixedRate);
  if (fixedRate !== undefined && rate === undefined)
    throw refusal("INVALID_REQUEST", "fixedRate must be a ratio above zero such as 1:1", "fixedRate");
  return {
    wallet: key.fundingAddress,
    selected: new Set(names === undefined ? DEFAULT_SPONSORED : names.map(componentOf)),
    maxUsd: max === undefined ? undefined : BigInt(max) * MICRO_USD,
    fixedRate: rate,
  };
}

/** $100: more is no gas, but a second output. */
const MOST_TOPUP_USD = 100_000_000n;

function topupOf({ topupGasAmount, txs }: QuoteInput): bigint {
  const usd = topupGasAmount === undefined ? DEFAULT_TOPUP_USD : BigInt(topupGasAmount);
  if (usd > MOST_TOPUP_USD)
    throw refusal(
      "INVALID_REQUEST",
      `topupGasAmount may be at most ${MOST_TOPUP_USD}: USD with 6 decimals`,
      "topupGasAmount",
    );
  if (txs !== undefined && txs.length > 0)
    throw refusal("UNSUPPORTED_EXECUTION_TYPE", "Coin for gas does not come with txs", "topupGas");
  return usd * MICRO_USD;
}

function componentOf(name: string): FeeComponent {
  const known = feeComponents.find((one) => one === name);
  if (known === undefined)
    throw refusal(
      "INVALID_REQUEST",
      `sponsoredFeeComponents knows ${feeComponents.join(", ")}`,
      "sponsoredFeeComponents",
    );
  return known;
}

function refusal(code: ErrorCode, message: string, field: keyof QuoteInput): ServiceError {
  return new ServiceError(code, message, { field });
}
