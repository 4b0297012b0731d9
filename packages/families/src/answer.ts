import type { Evidence, PaymentAnswer } from "./evidence.ts";

export function final<T>(value: T): Evidence<T> {
  return { kind: "final", value };
}

/** @param of `endpoint`: this endpoint does not have the data, which proves nothing about the chain */
export function refuted(reason: string, of?: "endpoint"): Evidence<never> {
  return { kind: "refuted", reason, ...(of === "endpoint" && { ofEndpoint: true }) };
}

/** A judgment, with the block that it is about. */
export function paidIn(
  block: Omit<PaymentAnswer, "amounts">,
  judgment: Pick<PaymentAnswer, "amounts"> | { readonly refusal: string },
): Evidence<PaymentAnswer> {
  return "refusal" in judgment ? refuted(judgment.refusal) : final({ ...block, amounts: judgment.amounts });
}

/** When to retry if the next block may decide. */
export function blockRetrySeconds({ blockTimeSeconds }: { readonly blockTimeSeconds: number }): number {
  return Math.max(1, Math.ceil(blockTimeSeconds));
}
