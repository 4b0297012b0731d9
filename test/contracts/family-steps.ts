import type { Answer } from "../support/oracle-world.ts";

export function payloadOf(answer: Answer | undefined): string {
  if (answer === undefined) throw new Error("no oracle was asked");
  const { messages, message, execution } = answer.body;
  return JSON.stringify([
    (messages ?? [message]).map(({ data, result }) => [data, result]),
    execution?.idempotencyKey,
    execution?.actions,
  ]);
}

/** An id in the same format that no transaction has. */
export function otherId(transactionId: string): string {
  const at = transactionId.length - 10;
  const old = transactionId[at] ?? "";
  return `${transactionId.slice(0, at)}${old === "2" ? "3" : "2"}${transactionId.slice(at + 1)}`;
}
