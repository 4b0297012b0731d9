import type { Evidence, PaymentAnswer } from "./evidence.ts";

export function final<T>(value: T): Evidence<T> {
  return { kind: "final", value };
}

/** @param scope `endpoint`: only this endpoint lacks the data, which proves nothing about the chain */
export function refuted(reason: string, scope?: "endpoint"): Evidence<never> {
  return { kind: "refuted", reason, ...(scope === "endpoint" && { ofEndpoint: true }) };
}

/** Converts a judgment of payments in `block` to evidence. */
export function paidIn(
  block: Omit<PaymentAnswer, "amounts">,
  judgment: Pick<PaymentAnswer, "amounts"> | { readonly refusal: string },
): Evidence<PaymentAnswer> {
  return "refusal" in judgment ? refuted(judgment.refusal) : final({ ...block, amounts: judgment.amounts });
}

/** Seconds until a retry is useful, if the next block may decide. */
export function blockRetrySeconds({ blockTimeSeconds }: { readonly blockTimeSeconds: number }): number {
  return Math.max(1, Math.ceil(blockTimeSeconds));
}
