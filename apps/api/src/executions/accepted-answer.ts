import type { RequestId } from "@causeway/domain";
import type { ExecuteAnswer } from "@causeway/wire";

/** The answer to every execution that was accepted, the first time and again. */
export function acceptedAnswer(requestId: RequestId): ExecuteAnswer {
  return { message: "Transaction submitted", requestId };
}
