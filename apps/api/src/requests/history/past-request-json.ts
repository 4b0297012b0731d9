import { NATIVE_CURRENCY, tradeRate } from "@causeway/domain";
import type { Address, OrderId } from "@causeway/domain";
import type { HistoryAmountJson, PastRequestJson, PastRequestV2Json } from "@causeway/wire";
import type { PastAmount, PastRequest, PastSide, PastTransaction } from "./past-requests.port.ts";
import type { AddressFormat } from "../../chains/address-format.port.ts";
import { amountJson } from "./past-amount-json.ts";
import { pastFeesJson, pastFeesV2Json } from "./past-fees-json.ts";

type Common = Omit<PastRequestJson, "data">;
type CommonData = Pick<
  PastRequestJson["data"],
  | "slippageTolerance"
  | "failedTxHash"
  | "failedTxBlockNumber"
  | "failedCallData"
  | "usesExternalLiquidity"
  | "triggeredByFastFill"
  | "delivered"
  | "apiKey"
  | "referrer"
>;
type TransactionFields = Omit<PastRequestJson["data"]["inTxs"][number], "txHash">;

/** The fields that the caller may see in addition to the public ones. */
export interface Visibility {
  /** Shows data of the app: its API key made the request, and the caller with that key asked for it. */
  readonly showsAppData: boolean;
  /** Shows how the deposit address is derived, even before its first sweep. */
  readonly showsAddressKey: boolean;
  /** Shows call data of any size: the request was selected by id, so it is the only one in the response. */
  readonly showsAllCallData: boolean;
}

/** A past request as the API returns it. */
export function pastRequestJson(
  past: PastRequest,
  visibility: Visibility,
  format: AddressFormat,
): PastRequestJson {
  const transactionJson = (tx: PastTransaction): PastRequestJson["data"]["inTxs"][number] => ({
    txHash: format.transaction(tx.chainId, tx.txHash),
    ...transactionFields(tx, visibility, format),
  });
  return {
    ...commonFields(past, visibility, format),
    data: {
      ...commonData(past, visibility),
      failReason: past.failReason ?? null,
      refundFailReason: past.refundFailReason ?? null,
      timeEstimate: past.terms.quoted?.timeEstimateSeconds ?? null,
      ...pastFeesJson(past, visibility, format),
      route: {
        quoted: sidesJson(past.quoted, format),
        actual: past.actual === undefined ? null : sidesJson(past.actual, format),
      },
      refundCurrencyData: refundJson(past, format) ?? null,
      inTxs: past.inTxs.map(transactionJson),
      outTxs: past.outTxs.map(transactionJson),
    },
  };
}

/** A past request in the format of the older lists. */
export function pastRequestV2Json(
  past: PastRequest,
  visibility: Visibility,
  format: AddressFormat,
): PastRequestV2Json {
  const { terms, sender, quoted, actual } = past;
  const paid = actual?.origin.input ?? (terms.input === undefined ? actual?.origin.output : undefined);
  const currencyIn = amountJson({ ...quoted.origin.input, ...knownAmount(paid) } as PastAmount, format);
  const output = { ...quoted.destination.output, ...knownAmount(actual?.destination.output) } as PastAmount;
  const currencyOut = amountJson(output, format);
  const timeEstimate = terms.quoted?.timeEstimateSeconds;
  const refunded = refundJson(past, format);
  const rate = rateOf(currencyIn, currencyOut);
  const { rate: _, ...route } = sidesJson(actual ?? quoted, format);
  const transactionJson = (tx: PastTransaction): PastRequestV2Json["data"]["inTxs"][number] => ({
    hash: format.transaction(tx.chainId, tx.txHash),
    ...transactionFields(tx, visibility, format),
  });
  return {
    ...commonFields(past, visibility, format),
    data: {
      ...commonData(past, visibility),
      failReason: past.failReason ?? "N/A",
      refundFailReason: past.refundFailReason ?? "N/A",
      supersededByRequestId: past.supersededBy ?? null,
      ...(timeEstimate !== undefined && { timeEstimate }),
      ...pastFeesV2Json(past, visibility, format),
      ...(output.configured && { currency: output.configured.id }),
      currencyObject: currencyOut.currency,
      ...(currencyOut.amount !== undefined && { price: currencyOut.amount }),
      ...(refunded && { refundCurrencyData: refunded }),
      inTxs: past.inTxs.map(transactionJson),
      outTxs: past.outTxs.map(transactionJson),
      metadata: {
        sender: format.address(terms.origin.chainId, sender),
        recipient: format.address(terms.destination.chainId, terms.recipient),
        currencyIn,
        currencyOut,
        ...(rate !== undefined && { rate }),
        route,
      },
    },
  };
}

/** The project's feature names, then the published names that clients of this API family expect. */
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
  return [...features, ...Object.entries(published).flatMap(([name, applies]) => (applies ? [name] : []))];
}

/** The older lists use a longer name for this field. */
function addressType(
  depositAddress: PastRequest["terms"]["depositAddress"],
): Pick<NonNullable<PastRequestJson["depositAddress"]>, "type" | "depositAddressType"> {
  if (depositAddress === undefined) return {};
  const type = depositAddress.strict ? "strict" : "open";
  return { type, depositAddressType: type };
}

function recoveryOf(depositAddress: PastRequest["terms"]["depositAddress"]): string | null {
  return depositAddress === undefined || depositAddress.recovery === NATIVE_CURRENCY
    ? null
    : depositAddress.recovery;
}

function depositorOf({ terms, deposit }: PastRequest, format: (account: Address) => string): string | null {
  const depositor = terms.depositAddress === undefined ? deposit?.depositor : terms.user;
  return depositor === undefined ? null : format(depositor);
}

/** A known amount replaces the quoted one. */
function knownAmount(amount: PastAmount | undefined): Partial<PastAmount> {
  return amount?.amount === undefined ? {} : { amount: amount.amount };
}

function commonFields(past: PastRequest, visibility: Visibility, format: AddressFormat): Common {
  const { terms, deposit, settlement } = past;
  // With the order id anyone can pass the unused address to its factory; its first transaction makes the id
  // public.
  const isUnswept = terms.depositAddress !== undefined && deposit === undefined;
  const isAddressKeyShown = visibility.showsAddressKey || !isUnswept;
  const onOrigin = (address: Address): string => format.address(terms.origin.chainId, address);
  return {
    id: terms.requestId,
    status: past.status,
    user: onOrigin(terms.user),
    recipient: format.address(terms.destination.chainId, terms.recipient),
    sender: onOrigin(past.sender),
    refundTo: onOrigin(terms.refundTo),
    supersededByRequestId: past.supersededBy ?? null,
    depositAddress:
      past.depositAddress === undefined
        ? null
        : {
            address: onOrigin(past.depositAddress),
            ...addressType(terms.depositAddress),
            depositor: depositorOf(past, onOrigin),
            depositTxHash:
              deposit === undefined ? null : format.transaction(terms.origin.chainId, deposit.txHash),
            recoveryAddress: isAddressKeyShown ? recoveryOf(terms.depositAddress) : null,
          },
    requestType: past.requestType ?? null,
    features: featuresOf(past),
    createdAt: iso(terms.createdAtMs),
    updatedAt: iso(past.updatedAtMs),
    protocol: {
      orderId: isAddressKeyShown ? terms.orderId : null,
      hubType: "onchain",
      isWithdrawable: false,
      solver: {
        address: terms.order.solver,
        protocolChainId: terms.order.solverChainId,
        ...(past.solverChainId !== undefined && { chainId: past.solverChainId }),
      },
      ...(deposit && { deposit: depositJson(terms.orderId, deposit, format) }),
      ...(settlement && {
        settlement: {
          destination: {
            fills: paymentsJson(past, "fill", format),
            refunds: paymentsJson(past, "refund", format),
          },
          state: settlement.state,
          ...(settlement.reason !== undefined && { reason: settlement.reason }),
          updatedAt: iso(settlement.updatedAtMs),
        },
      }),
    },
  };
}

type Protocol = PastRequestJson["protocol"];

function depositJson(
  orderId: OrderId,
  deposit: NonNullable<PastRequest["deposit"]>,
  format: AddressFormat,
): NonNullable<Protocol["deposit"]> {
  const { chainId, depository } = deposit;
  return {
    origin: {
      amount: String(deposit.amount),
      chainId,
      currency: format.address(chainId, deposit.currency),
      depositor: format.address(chainId, deposit.depositor),
      ...(depository !== undefined && { depository: format.address(chainId, depository) }),
      onchainId: orderId,
      transactionId: format.transaction(chainId, deposit.txHash),
    },
    blockNumber: Number(deposit.block),
    confirmed: deposit.isConfirmed,
  };
}

/** Mined payments of one kind that did not fail. */
function paymentsJson(
  { outTxs }: PastRequest,
  leg: "fill" | "refund",
  format: AddressFormat,
): NonNullable<Protocol["settlement"]>["destination"]["fills"] {
  return outTxs
    .filter((tx) => tx.leg === leg && tx.status === "success")
    .map(({ chainId, txHash }) => ({ chainId, transactionId: format.transaction(chainId, txHash) }));
}

function commonData(past: PastRequest, visibility: Visibility): CommonData {
  const { terms, failed, delivered } = past;
  return {
    slippageTolerance: String(slippageBps(past)),
    ...(failed && {
      failedTxHash: failed.txHash,
      ...(failed.block !== undefined && { failedTxBlockNumber: Number(failed.block) }),
      failedCallData: { from: failed.call.from, ...callJson(failed.call, visibility) },
    }),
    usesExternalLiquidity: false,
    triggeredByFastFill: past.isFastFill,
    ...(delivered && {
      delivered: {
        amount: String(delivered.amount),
        quotedAmount: String(delivered.quotedAmount),
        minimumAmount: String(delivered.minimumAmount),
        differenceBps: delivered.differenceBps,
      },
    }),
    ...(visibility.showsAppData && terms.keyId !== undefined
      ? { apiKey: terms.keyId, referrer: terms.referrer ?? null }
      : {}),
  };
}

function refundJson(
  { refund }: PastRequest,
  format: AddressFormat,
): NonNullable<PastRequestJson["data"]["refundCurrencyData"]> | undefined {
  return (
    refund && {
      ...amountJson(refund.amount, format),
      recipient: format.address(refund.amount.chainId, refund.recipient),
    }
  );
}

function transactionFields(
  { chainId, block, seenAtMs, status, feeWei, call, moved }: PastTransaction,
  visibility: Visibility,
  format: AddressFormat,
): TransactionFields {
  return {
    ...(feeWei !== undefined && { fee: String(feeWei) }),
    ...(block !== undefined && { block: Number(block) }),
    type: "onchain",
    chainId,
    ...(seenAtMs !== undefined && { timestamp: Math.floor(seenAtMs / 1000) }),
    ...(status !== "pending" && { status }),
    ...(call === undefined ? {} : { data: callJson(call, visibility) }),
    stateChanges: moved.map(({ address, currency, difference }) => ({
      address: format.address(chainId, address),
      change: {
        kind: "token",
        currency: format.address(chainId, currency),
        balanceDiff: String(difference),
      },
    })),
  };
}

/** Limit of call data per list entry: fifty requests with large calls would be megabytes. */
const MAX_LISTED_DATA_BYTES = 1_024;

function callJson(
  { to, data, value }: NonNullable<PastTransaction["call"]>,
  { showsAllCallData }: Visibility,
): NonNullable<TransactionFields["data"]> {
  const isShown = data !== undefined && (showsAllCallData || data.length <= 2 + 2 * MAX_LISTED_DATA_BYTES);
  return { to, ...(isShown && { data }), value: String(value) };
}

/** As quoted. For older requests it is derived from the amounts, which may be rounded by 1. */
function slippageBps({ terms: { destination, quoted } }: PastRequest): bigint {
  if (quoted?.slippageBps !== undefined) return BigInt(quoted.slippageBps);
  const { expectedAmount, minimumAmount } = destination;
  return expectedAmount === 0n ? 0n : ((expectedAmount - minimumAmount) * 10_000n) / expectedAmount;
}

function sidesJson(
  { origin, destination }: PastRequest["quoted"],
  format: AddressFormat,
): PastRequestJson["data"]["route"]["quoted"] {
  const sides = { origin: sideJson(origin, format), destination: sideJson(destination, format) };
  const from = sides.origin.inputCurrency ?? sides.origin.outputCurrency;
  const rate = rateOf(from, sides.destination.outputCurrency);
  return { ...sides, ...(rate !== undefined && { rate }) };
}

function sideJson(
  { input, output }: PastSide,
  format: AddressFormat,
): {
  inputCurrency: HistoryAmountJson | null;
  outputCurrency: HistoryAmountJson | null;
} {
  return {
    inputCurrency: input === undefined ? null : amountJson(input, format),
    outputCurrency: output === undefined ? null : amountJson(output, format),
  };
}

/** Output per unit of input, both in whole units; undefined if one of the two is unknown. */
function rateOf(from: HistoryAmountJson | null, to: HistoryAmountJson | null): string | undefined {
  const { amount: paid, currency: paidIn } = from ?? {};
  const { amount: received, currency: receivedIn } = to ?? {};
  if (paid === undefined || received === undefined || paid === "0") return undefined;
  if (paidIn?.decimals === undefined || receivedIn?.decimals === undefined) return undefined;
  return tradeRate(BigInt(paid), paidIn.decimals, BigInt(received), receivedIn.decimals);
}

const iso = (ms: number): string => new Date(ms).toISOString();
