import type { ErrorCode } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";

interface Refusal {
  readonly field: keyof QuoteInput;
  readonly code: ErrorCode;
  readonly message: string;
  readonly asked: (input: QuoteInput) => boolean;
}

const WHERE = "to or from a chain that is no EVM chain";

/** What a request to or from a chain that is reached by a rail does not do: a deposit and a payment, and nothing beside them. Silence would cost somebody money. */
const refusals: readonly Refusal[] = [
  {
    field: "txs",
    code: "EXTRA_TXS_NOT_SUPPORTED",
    message: `No calls are made by a fill ${WHERE}`,
    asked: ({ txs }) => txs !== undefined && txs.length > 0,
  },
  {
    field: "usePermit",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: `Nobody pays by signature ${WHERE}`,
    asked: ({ usePermit }) => usePermit === true,
  },
  {
    field: "useDepositAddress",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: `There are no deposit addresses ${WHERE}`,
    asked: ({ useDepositAddress }) => useDepositAddress === true,
  },
  {
    field: "topupGas",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: `No coin for gas comes with a payment ${WHERE}`,
    asked: ({ topupGas }) => topupGas === true,
  },
  {
    field: "appFees",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: `No fees of apps are collected ${WHERE}`,
    asked: ({ appFees }) => appFees?.some(({ fee }) => Number(fee) > 0) ?? false,
  },
  {
    field: "subsidizeFees",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: `Nobody else pays the fees of a request ${WHERE}`,
    asked: ({ subsidizeFees }) => subsidizeFees === true,
  },
  {
    field: "fixedRate",
    code: "UNSUPPORTED_ROUTE",
    message: `No fixed rate is kept ${WHERE}`,
    asked: ({ fixedRate }) => fixedRate !== undefined,
  },
  {
    field: "originGasOverhead",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: `The user sends the deposit himself ${WHERE}`,
    asked: ({ originGasOverhead }) => originGasOverhead !== undefined && Number(originGasOverhead) > 0,
  },
];

/** @throws ServiceError naming the first field that asks for something that the quote would not honour */
export function refuseOnRails(input: QuoteInput): void {
  for (const { field, code, message, asked } of refusals)
    if (asked(input)) throw new ServiceError(code, message, { field });
}
