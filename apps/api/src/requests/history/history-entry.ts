import type { Address, RequestId, RequestTerms, StateName } from "@causeway/domain";
import type { CurrencyName, RequestFeature, RequestType } from "./request-history.port.ts";

/** The searchable fields of a request that never change, apart from features, which are only added. */
export interface HistoryEntry {
  readonly requestId: RequestId;
  readonly requestType: RequestType;
  readonly userAddress: Address;
  readonly recipient: Address;
  /** The user's payment. */
  readonly currencyIn: Address;
  /** The recipient's output. */
  readonly currencyOut: Address;
  /** Lower case; null if the currency has no known symbol. */
  readonly symbolIn: string | null;
  readonly symbolOut: string | null;
  /** Quoted input value, in millionths of a USD. */
  readonly amountUsd: bigint;
  /** Quoted app fees, in millionths of a USD. */
  readonly appFeesUsd: bigint;
  readonly features: RequestFeature[];
  readonly keyId: string | null;
  readonly referrer: string | null;
}

/** A currency on a chain. */
export interface ChainCurrency {
  readonly chainId: number;
  readonly address: Address;
}

/** The configured facts about a currency. */
export type KnownName = Pick<CurrencyName, "symbol" | "wrapsNative"> & { readonly asset: string | null };
type FindName = (currency: ChainCurrency) => KnownName | undefined;

/** No one has paid a request in these states, unless it has a deposit or funds. */
const UNPAID: ReadonlySet<StateName> = new Set<StateName>(["quoted", "expired"]);

/** Whether this change of state adds a request to history, unless it is already listed. */
export function entersHistory(before: StateName, after: StateName): boolean {
  return UNPAID.has(before) && !UNPAID.has(after);
}

/** A millionth of a USD, in units of 18 decimals. */
const USD_MILLIONTH = 10n ** 12n;
/** Below the largest value of a column with 8 bytes. */
const MAX_MILLIONTHS = 9n * 10n ** 18n;

/** The user's payment and the recipient's output. */
export function listedCurrencies({ origin, input, destination }: RequestTerms): {
  readonly paid: ChainCurrency;
  readonly received: ChainCurrency;
} {
  return {
    paid: { chainId: origin.chainId, address: (input ?? origin).currency },
    received: { chainId: destination.chainId, address: destination.currency },
  };
}

/** Describes a request for history, with the names that its currencies have now. */
export function historyEntry(
  {
    terms,
    state,
    isFastFill,
  }: { readonly terms: RequestTerms; readonly state: StateName; readonly isFastFill: boolean },
  findName: FindName,
): HistoryEntry {
  const { paid, received } = listedCurrencies(terms);
  const [nameIn, nameOut] = [findName(paid), findName(received)];
  return {
    requestId: terms.requestId,
    requestType: requestTypeOf(terms, nameIn, nameOut),
    userAddress: terms.user,
    recipient: terms.recipient,
    currencyIn: paid.address,
    currencyOut: received.address,
    symbolIn: nameIn?.symbol.toLowerCase() ?? null,
    symbolOut: nameOut?.symbol.toLowerCase() ?? null,
    amountUsd: toMillionths(terms.inputUsd),
    appFeesUsd: toMillionths(terms.appFeesUsd ?? 0n),
    features: featuresOf(terms, state, isFastFill),
    keyId: terms.keyId ?? null,
    referrer: terms.referrer === undefined ? null : toStorableText(terms.referrer),
  };
}

function requestTypeOf(
  { kind, origin, destination }: RequestTerms,
  nameIn: KnownName | undefined,
  nameOut: KnownName | undefined,
): RequestType {
  if (kind === "call") return "Call";
  if (kind === "send") return "Send";
  const isSameAsset = typeof nameIn?.asset === "string" && nameIn.asset === nameOut?.asset;
  if (origin.chainId !== destination.chainId) return isSameAsset ? "Bridge" : "Crosschain Swap";
  if (isSameAsset && nameOut.wrapsNative) return "Wrap";
  if (isSameAsset && nameIn.wrapsNative) return "Unwrap";
  return "Same-chain Swap";
}

function featuresOf(terms: RequestTerms, state: StateName, isFastFill: boolean): RequestFeature[] {
  const features: Readonly<Record<RequestFeature, boolean>> = {
    "fast-fill": isFastFill,
    execution: state === "accepted" || terms.kind === "call",
    "origin-swap": terms.input !== undefined,
    "destination-swap": terms.destination.paidFrom !== undefined,
    calls: terms.order.output.calls.length > 0,
  };
  return (Object.keys(features) as RequestFeature[]).filter((feature) => features[feature]);
}

function toMillionths(usd: bigint): bigint {
  const value = usd / USD_MILLIONTH;
  return value < MAX_MILLIONTHS ? value : MAX_MILLIONTHS;
}

/** Postgres cannot store NUL and unpaired surrogates; other control characters are useless in a search. */
function toStorableText(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}]/gu, "");
}
