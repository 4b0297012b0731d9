import type { ErrorCode } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";

/** What a request can do with a chain at one of its ends. A route can do what both of its sides can. */
export interface Capabilities {
  /** The user pays the recipient directly on one chain. */
  readonly sends: boolean;
  readonly calls: boolean;
  readonly permits: boolean;
  readonly depositAddresses: boolean;
  readonly gasTopups: boolean;
  readonly appFees: boolean;
  readonly sponsorship: boolean;
  /** The service sends the deposit for the user. */
  readonly executions: boolean;
}

interface Refusal {
  readonly capability: keyof Capabilities;
  readonly field: keyof QuoteInput;
  readonly code: ErrorCode;
  readonly asked: (input: QuoteInput) => boolean;
  /** Follows the common text. */
  readonly why?: string;
}

/** Options that a route without the capability does not honor. Ignoring them could cost the user money. */
const refusals: readonly Refusal[] = [
  {
    capability: "calls",
    field: "txs",
    code: "EXTRA_TXS_NOT_SUPPORTED",
    asked: ({ txs }) => txs !== undefined && txs.length > 0,
  },
  {
    capability: "permits",
    field: "usePermit",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    asked: ({ usePermit }) => usePermit === true,
  },
  {
    capability: "depositAddresses",
    field: "useDepositAddress",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    asked: ({ useDepositAddress }) => useDepositAddress === true,
  },
  {
    capability: "gasTopups",
    field: "topupGas",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    asked: ({ topupGas }) => topupGas === true,
  },
  {
    capability: "appFees",
    field: "appFees",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    asked: ({ appFees }) => appFees?.some(({ fee }) => Number(fee) > 0) ?? false,
  },
  {
    capability: "sponsorship",
    field: "subsidizeFees",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    asked: ({ subsidizeFees }) => subsidizeFees === true,
  },
  {
    capability: "sponsorship",
    field: "fixedRate",
    code: "UNSUPPORTED_ROUTE",
    asked: ({ fixedRate }) => fixedRate !== undefined,
  },
  {
    capability: "executions",
    field: "originGasOverhead",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    asked: ({ originGasOverhead }) => originGasOverhead !== undefined && Number(originGasOverhead) > 0,
    why: ": the user sends the deposit",
  },
];

/** What a route between two sides can do. */
export function routeCapabilities(from: Capabilities, to: Capabilities): Capabilities {
  return {
    sends: from.sends && to.sends,
    calls: from.calls && to.calls,
    permits: from.permits && to.permits,
    depositAddresses: from.depositAddresses && to.depositAddresses,
    gasTopups: from.gasTopups && to.gasTopups,
    appFees: from.appFees && to.appFees,
    sponsorship: from.sponsorship && to.sponsorship,
    executions: from.executions && to.executions,
  };
}

/** @throws ServiceError naming the first field that asks for something that the route cannot do */
export function refuseIncapable(can: Capabilities, input: QuoteInput): void {
  for (const { capability, field, code, asked, why = "" } of refusals)
    if (!can[capability] && asked(input))
      throw new ServiceError(code, `${field} is not supported to or from non-EVM chains${why}`, { field });
}

/** @throws ServiceError for a payment to the recipient that needs no service */
export function noSends(): ServiceError {
  return new ServiceError(
    "UNSUPPORTED_ROUTE",
    "destinationCurrency must differ from originCurrency on the same chain: send a plain transfer instead",
    { field: "destinationCurrency" },
  );
}
