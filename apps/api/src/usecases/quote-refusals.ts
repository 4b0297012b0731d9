import type { ErrorCode } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";

interface Refusal {
  readonly field: keyof QuoteInput;
  readonly code: ErrorCode;
  readonly message: string;
  readonly asked: (input: QuoteInput) => boolean;
}

/**
 * What a quote would promise and this instance would not do: silence would cost somebody money. Ignored are those that matter only beside something refused here, and
 * `latePaymentSlippageTolerance`, because a late deposit is served by the same promise.
 */
const refusals: readonly Refusal[] = [
  {
    field: "txs",
    code: "EXTRA_TXS_NOT_SUPPORTED",
    message: "Calls on the destination chain are not supported",
    asked: ({ txs }) => txs !== undefined && txs.length > 0,
  },
  {
    field: "authorizationList",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: "Authorizations for the fill are not supported",
    asked: ({ authorizationList }) => authorizationList !== undefined && authorizationList.length > 0,
  },
  {
    field: "topupGas",
    code: "UNSUPPORTED_EXECUTION_TYPE",
    message: "Gas top-ups are not supported",
    asked: ({ topupGas }) => topupGas === true,
  },
];

/** @throws ServiceError naming the first field that asks for something the quote would not honour. */
export function refuseUnsupported(input: QuoteInput): void {
  for (const { field, code, message, asked } of refusals)
    if (asked(input)) throw new ServiceError(code, message, { field });
}
