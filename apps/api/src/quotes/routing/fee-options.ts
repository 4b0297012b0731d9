import type { Address, AppFee, ErrorCode, FeeComponent, FixedRate } from "@causeway/domain";
import {
  appBpsOf,
  DEFAULT_SPONSORED,
  DEFAULT_TOPUP_USD,
  feeComponents,
  mergeAppFees,
  MICRO_USD,
  MAX_APP_FEE_BPS,
  NATIVE_CURRENCY,
  parseAddress,
  parseFixedRate,
  ServiceError,
} from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import type { QuoteKey } from "../../balances/sponsors.port.ts";
import { isPublishable } from "../../http/publishable-key.ts";

/** The fee options of a quote request: fees that apps take, and fees that an app pays. */
export interface FeeOptions {
  readonly appFees: readonly AppFee[];
  /** Absent: the user pays everything. */
  readonly sponsor?: SponsorOptions;
  /** Gas top-up in native token for the recipient, USD with 18 decimals. Absent: none. */
  readonly topupUsd?: bigint;
}

export interface SponsorOptions {
  readonly wallet: Address;
  readonly selected: ReadonlySet<FeeComponent>;
  /** USD with 18 decimals. Absent: as much as the key's rules allow. */
  readonly maxUsd: bigint | undefined;
  readonly fixedRate: FixedRate | undefined;
}

/**
 * Reads the fee options of a request. Undefined: it has none.
 * @param hasBalances this instance keeps app balances
 * @throws ServiceError INVALID_REQUEST, INVALID_ADDRESS, UNAUTHORIZED, FORBIDDEN, UNSUPPORTED_EXECUTION_TYPE
 * naming the field
 */
export function readFeeOptions(
  input: QuoteInput,
  key: QuoteKey | undefined,
  hasBalances: boolean,
): FeeOptions | undefined {
  const appFees = input.appFees === undefined ? NO_FEES : appFeesOf(input.appFees);
  const sponsor = sponsorOf(input, key);
  const topupUsd = input.topupGas === true ? topupOf(input) : 0n;
  if (appFees.length === 0 && sponsor === undefined && topupUsd === 0n) return undefined;
  if (!hasBalances && (appFees.length > 0 || sponsor !== undefined))
    throw refusal(
      "UNSUPPORTED_EXECUTION_TYPE",
      "App balances are not enabled on this service",
      appFees.length > 0 ? "appFees" : "subsidizeFees",
    );
  return { appFees, ...(sponsor !== undefined && { sponsor }), ...(topupUsd > 0n && { topupUsd }) };
}

const NO_FEES: readonly AppFee[] = [];

function appFeesOf(requested: NonNullable<QuoteInput["appFees"]>): readonly AppFee[] {
  const fees = mergeAppFees(
    requested.map(({ recipient: text, fee }) => {
      const recipient = parseAddress(text);
      if (recipient === undefined || recipient === NATIVE_CURRENCY)
        throw refusal(
          "INVALID_ADDRESS",
          "appFees recipients must be 20-byte addresses, not the zero address",
          "appFees",
        );
      return { recipient, bps: Number(fee) };
    }),
  );
  if (fees.length > MAX_RECIPIENTS)
    throw refusal(
      "INVALID_REQUEST",
      `appFees must have at most ${MAX_RECIPIENTS} recipients, got ${fees.length}`,
      "appFees",
    );
  if (appBpsOf(fees) > MAX_APP_FEE_BPS)
    throw refusal(
      "INVALID_REQUEST",
      `appFees must total at most ${MAX_APP_FEE_BPS} bps, got ${appBpsOf(fees)}`,
      "appFees",
    );
  return fees;
}

/** Each recipient costs a ledger entry when the fill is final. */
const MAX_RECIPIENTS = 10;

function sponsorOf(input: QuoteInput, key: QuoteKey | undefined): SponsorOptions | undefined {
  const { sponsoredFeeComponents: names, fixedRate, maxSubsidizationAmount: max } = input;
  if (input.subsidizeFees !== true) {
    if (names !== undefined && names.length > 0)
      throw refusal(
        "INVALID_REQUEST",
        "sponsoredFeeComponents requires subsidizeFees to be true",
        "sponsoredFeeComponents",
      );
    if (fixedRate !== undefined)
      throw refusal(
        "INVALID_REQUEST",
        "fixedRate requires subsidizeFees to be true: a sponsor pays the difference",
        "fixedRate",
      );
    return undefined;
  }
  if (input.useDepositAddress === true)
    throw refusal(
      "UNSUPPORTED_EXECUTION_TYPE",
      "subsidizeFees is not supported with useDepositAddress",
      "subsidizeFees",
    );
  if (key === undefined)
    throw refusal("UNAUTHORIZED", "subsidizeFees requires an API key: its app balance pays", "subsidizeFees");
  if (key.fundingAddress === undefined)
    throw refusal("FORBIDDEN", "subsidizeFees requires an API key with a funding address", "subsidizeFees");
  if (isPublishable(key))
    throw refusal(
      "FORBIDDEN",
      "subsidizeFees requires a secret API key, not a publishable one",
      "subsidizeFees",
    );
  const rate = fixedRate === undefined ? undefined : parseFixedRate(fixedRate);
  if (fixedRate !== undefined && rate === undefined)
    throw refusal("INVALID_REQUEST", "fixedRate must be a positive ratio such as 1:1", "fixedRate");
  return {
    wallet: key.fundingAddress,
    selected: new Set(names === undefined ? DEFAULT_SPONSORED : names.map(componentOf)),
    maxUsd: max === undefined ? undefined : BigInt(max) * MICRO_USD,
    fixedRate: rate,
  };
}

/** $100, in USD with 6 decimals: a larger top-up would be a second output. */
const MAX_TOPUP_USD = 100_000_000n;

function topupOf({ topupGasAmount, txs }: QuoteInput): bigint {
  const usd = topupGasAmount === undefined ? DEFAULT_TOPUP_USD : BigInt(topupGasAmount);
  if (usd > MAX_TOPUP_USD)
    throw refusal(
      "INVALID_REQUEST",
      `topupGasAmount must be at most ${MAX_TOPUP_USD} (USD with 6 decimals), got ${usd}`,
      "topupGasAmount",
    );
  if (txs !== undefined && txs.length > 0)
    throw refusal("UNSUPPORTED_EXECUTION_TYPE", "topupGas is not supported together with txs", "topupGas");
  return usd * MICRO_USD;
}

function componentOf(name: string): FeeComponent {
  const component = feeComponents.find((component) => component === name);
  if (component === undefined)
    throw refusal(
      "INVALID_REQUEST",
      `sponsoredFeeComponents must contain only ${feeComponents.join(", ")}, got ${name.slice(0, 64)}`,
      "sponsoredFeeComponents",
    );
  return component;
}

function refusal(code: ErrorCode, message: string, field: keyof QuoteInput): ServiceError {
  return new ServiceError(code, message, { field });
}
