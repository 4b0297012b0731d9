import { ServiceError } from "@causeway/domain";
import type { RequestId } from "@causeway/domain";
import type { ApiKeyIdentity } from "../../ports/api-keys.ts";
import type { RequestRecord } from "../../ports/records.ts";
import type { Services } from "../../ports/services.ts";
import { refusal } from "./read-execution.ts";
import type { ExecutionQuestion } from "./read-execution.ts";

/** What is known of the quote that is to be executed. */
export type Quoted =
  | { readonly kind: "open"; readonly record: RequestRecord }
  /** The very same was accepted before. */
  | { readonly kind: "already" };

/**
 * The quote that somebody wants executed.
 * @throws ServiceError when there is none, or it cannot be executed (any more, on this chain, in this way)
 */
export async function findQuoted(
  services: Pick<Services, "reads" | "clock">,
  caller: Pick<ApiKeyIdentity, "id">,
  requestId: RequestId,
  { origin, hash }: Pick<ExecutionQuestion, "origin" | "hash">,
): Promise<Quoted> {
  const [record, execution] = await Promise.all([
    services.reads.request(requestId),
    services.reads.execution(requestId),
  ]);
  if (record === undefined) throw refusal(`requestId ${requestId} is unknown`);
  if (execution !== undefined) {
    if (execution.keyId === caller.id && execution.questionHash === hash) return { kind: "already" };
    throw refusal(`requestId ${requestId} is executed already, by another call`);
  }
  const { terms, state } = record;
  if (terms.kind !== "bridge")
    throw refusal(
      `requestId ${requestId} is a payment by the user himself: send it as a call without requestId`,
    );
  if (terms.origin.chainId !== origin.chain.id)
    throw refusal(
      `data.chainId must be ${terms.origin.chainId}, the origin chain of the quote, and is ${origin.chain.id}`,
    );
  refuseEnded(record, services.clock.nowMs());
  if (state.name !== "quoted")
    throw refusal(`requestId ${requestId} has its deposit already, or has ended: it is ${state.name}`);
  return { kind: "open", record };
}

function refuseEnded({ terms, state }: RequestRecord, nowMs: number): void {
  if (state.name === "expired" || nowMs > terms.fillDeadlineMs)
    throw new ServiceError("INVALID_REQUEST", `requestId ${terms.requestId} has expired: get another quote`);
}
