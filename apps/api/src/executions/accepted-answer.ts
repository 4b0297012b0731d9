import type { RequestId } from "@causeway/domain";
import type { ExecuteAnswer } from "@causeway/wire";

/** The answer to every accepted execution, including repeated calls. */
export function acceptedAnswer(requestId: RequestId): ExecuteAnswer {
  return { message: "Transaction submitted", requestId };
}
