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
 * What a quote would promise and this instance would not do: silence would cost somebody money. Ignored are
 * those that matter only beside something refused here, and `latePaymentSlippageTolerance`, because a late
 * deposit is served by the same promise.
 */
const refusals: readonly Refusal[] = [];

/** @throws ServiceError naming the first field that asks for something the quote would not honour. */
export function refuseUnsupported(input: QuoteInput): void {
  for (const { field, code, message, asked } of refusals)
    if (asked(input)) throw new ServiceError(code, message, { field });
}
