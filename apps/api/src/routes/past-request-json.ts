import { NATIVE_CURRENCY, tradeRate } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { HistoryAmountJson, PastRequestJson, PastRequestV2Json } from "@causeway/wire";
import type { PastAmount, PastRequest, PastSide, PastTransaction } from "../ports/request-history-routes.ts";
import type { Spelling } from "../ports/spelling.ts";
import { hexSpelling } from "../usecases/spelling.ts";
import { amountJson } from "./past-amount-json.ts";
import { pastFeesJson } from "./past-fees-json.ts";

type Common = Omit<PastRequestJson, "data">;
type CommonData = Omit<PastRequestJson["data"], "failReason" | "refundFailReason" | "inTxs" | "outTxs">;
type TransactionFields = Omit<PastRequestJson["data"]["inTxs"][number], "txHash">;

/** What the caller may see of a request beside what everybody may. */
export interface Sight {
  /** Whose key it came with. */
  readonly key: boolean;
  /** What its deposit address is made of, before any money was moved from it. */
  readonly addressKey: boolean;
  /** Call data of any size: the request was named, so it is the only one of the answer. */
  readonly wholeCalls: boolean;
}

/** A past request as the API answers it. */
export function pastRequestJson(
  past: PastRequest,
  sight: Sight,
  spelling: Spelling = hexSpelling,
): PastRequestJson {
  const transaction = (one: PastTransaction): PastRequestJson["data"]["inTxs"][number] => ({
    txHash: spelling.transaction(one.chainId, one.txHash),
    ...transactionFields(one, sight, spelling),
  });
  return {
    ...common(past, sight, spelling),
    data: {
      ...commonData(past, sight, spelling),
      failReason: past.failReason ?? null,
      refundFailReason: past.refundFailReason ?? null,
      inTxs: past.inTxs.map(transaction),
      outTxs: past.outTxs.map(transaction),
    },
  };
}

/** The same in the words of the lists before. */
export function pastRequestV2Json(
  past: PastRequest,
  sight: Sight,
  spelling: Spelling = hexSpelling,
): PastRequestV2Json {
  const { terms, sender, quoted, actual } = past;
  const paid = actual?.origin.input ?? (terms.input === undefined ? actual?.origin.output : undefined);
  const currencyIn = amountJson({ ...quoted.origin.input, ...known(paid) } as PastAmount, spelling);
  const got = actual?.destination.output;
  const currencyOut = amountJson({ ...quoted.destination.output, ...known(got) } as PastAmount, spelling);
  const transaction = (one: PastTransaction): PastRequestV2Json["data"]["inTxs"][number] => ({
    hash: spelling.transaction(one.chainId, one.txHash),
    ...transactionFields(one, sight, spelling),
  });
  return {
    ...common(past, sight, spelling),
    data: {
      ...commonData(past, sight, spelling),
      failReason: past.failReason ?? "N/A",
      refundFailReason: past.refundFailReason ?? "N/A",
      inTxs: past.inTxs.map(transaction),
      outTxs: past.outTxs.map(transaction),
      metadata: {
        sender: spelling.address(terms.origin.chainId, sender),
        recipient: spelling.address(terms.destination.chainId, terms.recipient),
        currencyIn,
        currencyOut,
        rate: rateOf(currencyIn, currencyOut),
      },
    },
  };
}

/** Our own words first, then the vocabulary that clients of this API family know. */
function featuresOf({ features, terms }: PastRequest): string[] {
  const published = {
    gasless_execution: features.includes("execution"),
    gasless_swap: terms.permit !== undefined && terms.input !== undefined,
    fast_fill: features.includes("fast-fill"),
    gas_top_up: terms.gasTopup !== undefined,
    fixed_rate: terms.sponsorship?.fixedRate !== undefined,
    app_fees: terms.appFees !== undefined,
    deposit_address: terms.depositAddress !== undefined,
  };
  return [...features, ...Object.entries(published).flatMap(([word, applies]) => (applies ? [word] : []))];
}

function addressType(at: PastRequest["terms"]["depositAddress"]): "open" | "strict" | null {
  if (at === undefined) return null;
  return at.strict ? "strict" : "open";
}

function recoveryOf(at: PastRequest["terms"]["depositAddress"]): string | null {
  return at === undefined || at.recovery === NATIVE_CURRENCY ? null : at.recovery;
}

/** An amount that is known stands in for the one that was quoted. */
function known(amount: PastAmount | undefined): Partial<PastAmount> {
  return amount?.amount === undefined ? {} : { amount: amount.amount };
}

function common(past: PastRequest, sight: Sight, spelling: Spelling): Common {
  const { terms, deposit, settlement } = past;
  // With the order id anyone can name the unused address to its factory; its first transaction shows the id to everybody.
  const isUnswept = terms.depositAddress !== undefined && deposit === undefined;
  const showsAddressKey = sight.addressKey || !isUnswept;
  const onOrigin = (address: Address): string => spelling.address(terms.origin.chainId, address);
  return {
    id: terms.requestId,
    status: past.status,
    user: onOrigin(terms.user),
    recipient: spelling.address(terms.destination.chainId, terms.recipient),
    sender: onOrigin(past.sender),
    refundTo: onOrigin(terms.refundTo),
    supersededByRequestId: past.supersededBy ?? null,
    depositAddress:
      past.depositAddress === undefined
        ? null
        : {
            address: past.depositAddress,
            type: addressType(terms.depositAddress),
            depositor: terms.depositAddress === undefined ? (deposit?.depositor ?? null) : terms.user,
            depositTxHash: deposit?.txHash ?? null,
            recoveryAddress: showsAddressKey ? recoveryOf(terms.depositAddress) : null,
          },
    requestType: past.requestType ?? null,
    features: featuresOf(past),
    createdAt: iso(terms.createdAtMs),
    updatedAt: iso(past.updatedAtMs),
    protocol: {
      orderId: showsAddressKey ? terms.orderId : null,
      solver: terms.order.solver,
      deposit:
        deposit === undefined
          ? null
          : {
              chainId: deposit.chainId,
              txHash: spelling.transaction(deposit.chainId, deposit.txHash),
              blockNumber: Number(deposit.block),
              depositor: spelling.address(deposit.chainId, deposit.depositor),
              currency: spelling.address(deposit.chainId, deposit.currency),
              amount: String(deposit.amount),
              confirmed: deposit.isConfirmed,
            },
      settlement:
        settlement === undefined
          ? null
          : {
              state: settlement.state,
              reason: settlement.reason ?? null,
              updatedAt: iso(settlement.updatedAtMs),
            },
    },
  };
}

function commonData(past: PastRequest, sight: Sight, spelling: Spelling): CommonData {
  const { key: withKey } = sight;
  const { terms, failed, delivered, refund } = past;
  return {
    slippageTolerance: String(slippageBps(past)),
    failedTxHash: failed?.txHash ?? null,
    failedTxBlockNumber: failed?.block === undefined ? null : Number(failed.block),
    failedCallData: failed === undefined ? null : { from: failed.call.from, ...callJson(failed.call, sight) },
    timeEstimate: terms.quoted?.timeEstimateSeconds ?? null,
    triggeredByFastFill: past.isFastFill,
    ...pastFeesJson(past, withKey),
    route: {
      quoted: sidesJson(past.quoted, spelling),
      actual: past.actual === undefined ? null : sidesJson(past.actual, spelling),
    },
    delivered:
      delivered === undefined
        ? null
        : {
            amount: String(delivered.amount),
            quotedAmount: String(delivered.quotedAmount),
            minimumAmount: String(delivered.minimumAmount),
            differenceBps: delivered.differenceBps,
          },
    refundCurrencyData:
      refund === undefined
        ? null
        : {
            currency: amountJson(refund.amount, spelling).currency,
            amount: amountJson(refund.amount).amount,
            amountFormatted: amountJson(refund.amount).amountFormatted,
            recipient: spelling.address(refund.amount.chainId, refund.recipient),
          },
    ...(withKey && terms.keyId !== undefined
      ? { apiKey: terms.keyId, referrer: terms.referrer ?? null }
      : {}),
  };
}

function transactionFields(
  { chainId, block, seenAtMs, status, feeWei, call, moved }: PastTransaction,
  sight: Sight,
  spelling: Spelling,
): TransactionFields {
  return {
    fee: feeWei === undefined ? null : String(feeWei),
    feeUsd: null,
    block: block === undefined ? null : Number(block),
    type: "onchain",
    chainId,
    timestamp: seenAtMs === undefined ? null : Math.floor(seenAtMs / 1000),
    status,
    ...(call === undefined ? {} : { data: callJson(call, sight) }),
    stateChanges: moved.map(({ address, currency, difference }) => ({
      address: spelling.address(chainId, address),
      change: {
        kind: "token",
        currency: spelling.address(chainId, currency),
        balanceDiff: String(difference),
      },
    })),
  };
}

/** The data of a call in a list has at most so many bytes: fifty requests with large calls would be megabytes. */
const MAX_LISTED_DATA_BYTES = 1_024;

function callJson(
  { to, data, value }: NonNullable<PastTransaction["call"]>,
  { wholeCalls }: Sight,
): NonNullable<TransactionFields["data"]> {
  const isShown = wholeCalls || data.length <= 2 + 2 * MAX_LISTED_DATA_BYTES;
  return { to, ...(isShown && { data }), value: String(value) };
}

/** As quoted; of requests from before it was stored, what the amounts tell, which may be rounded by 1. */
function slippageBps({ terms: { destination, quoted } }: PastRequest): bigint {
  if (quoted?.slippageBps !== undefined) return BigInt(quoted.slippageBps);
  const { expectedAmount, minimumAmount } = destination;
  return expectedAmount === 0n ? 0n : ((expectedAmount - minimumAmount) * 10_000n) / expectedAmount;
}

function sidesJson(
  { origin, destination }: PastRequest["quoted"],
  spelling: Spelling,
): PastRequestJson["data"]["route"]["quoted"] {
  const sides = { origin: sideJson(origin, spelling), destination: sideJson(destination, spelling) };
  const from = sides.origin.inputCurrency ?? sides.origin.outputCurrency;
  return { ...sides, rate: rateOf(from, sides.destination.outputCurrency) };
}

function sideJson(
  { input, output }: PastSide,
  spelling: Spelling,
): {
  inputCurrency: HistoryAmountJson | null;
  outputCurrency: HistoryAmountJson | null;
} {
  return {
    inputCurrency: input === undefined ? null : amountJson(input, spelling),
    outputCurrency: output === undefined ? null : amountJson(output, spelling),
  };
}

/** Whole units out for one in; null when one of the two is not known. */
function rateOf(from: HistoryAmountJson | null, to: HistoryAmountJson | null): string | null {
  const [paid, got] = [from?.amount ?? undefined, to?.amount ?? undefined];
  const [inDecimals, outDecimals] = [
    from?.currency.decimals ?? undefined,
    to?.currency.decimals ?? undefined,
  ];
  if (paid === undefined || got === undefined || inDecimals === undefined || outDecimals === undefined)
    return null;
  return paid === "0" ? null : tradeRate(BigInt(paid), inDecimals, BigInt(got), outDecimals);
}

const iso = (ms: number): string => new Date(ms).toISOString();
