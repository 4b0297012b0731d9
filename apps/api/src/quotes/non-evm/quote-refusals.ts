import type { ErrorCode } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";

interface Refusal {
  readonly field: keyof QuoteInput;
  readonly code: ErrorCode;
  readonly message: string;
  readonly asked: (input: QuoteInput) => boolean;
}

const WHERE = "to or from non-EVM chains";

/**
 * Options that a request from or to a non-EVM chain cannot honor: it is one deposit and one payment. Ignoring
 * them could cost the user money.
 */
const refusals: readonly Refusal[] = [
  {
    field: "txs",
    code: "EXTRA_TXS_NOT_SUPPORTED",
    message: `txs is not supported ${WHERE}`,
    asked: ({ txs }) => txs !== undefined && txs.length > 0,
  },
  {
    field: "usePermit",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: `usePermit is not supported ${WHERE}`,
    asked: ({ usePermit }) => usePermit === true,
  },
  {
    field: "useDepositAddress",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: `useDepositAddress is not supported ${WHERE}`,
    asked: ({ useDepositAddress }) => useDepositAddress === true,
  },
  {
    field: "topupGas",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: `topupGas is not supported ${WHERE}`,
    asked: ({ topupGas }) => topupGas === true,
  },
  {
    field: "appFees",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: `appFees is not supported ${WHERE}`,
    asked: ({ appFees }) => appFees?.some(({ fee }) => Number(fee) > 0) ?? false,
  },
  {
    field: "subsidizeFees",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: `subsidizeFees is not supported ${WHERE}`,
    asked: ({ subsidizeFees }) => subsidizeFees === true,
  },
  {
    field: "fixedRate",
    code: "UNSUPPORTED_ROUTE",
    message: `fixedRate is not supported ${WHERE}`,
    asked: ({ fixedRate }) => fixedRate !== undefined,
  },
  {
    field: "originGasOverhead",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: `originGasOverhead is not supported ${WHERE}: the user sends the deposit`,
    asked: ({ originGasOverhead }) => originGasOverhead !== undefined && Number(originGasOverhead) > 0,
  },
];

/** @throws ServiceError naming the first field that asks for something that the quote would not honor */
export function refuseOnRails(input: QuoteInput): void {
  for (const { field, code, message, asked } of refusals)
    if (asked(input)) throw new ServiceError(code, message, { field });
}
