import { unreachable } from "@causeway/domain";
import type { RequestId, RequestState } from "@causeway/domain";
import { PERMIT_KEY_ID } from "../../ports/permits.ts";
import type { ApiKeyIdentity } from "../../ports/api-keys.ts";
import type { RequestRecord } from "../../ports/records.ts";
import type { Services } from "../../ports/services.ts";
import { acceptsExecution } from "./awaits-execution.ts";
import { refusal } from "./read-execution.ts";
import type { ExecutionQuestion } from "./read-execution.ts";

const EXPIRED = "has expired: get another quote";

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
  services: Pick<Services, "reads" | "clock" | "uow">,
  caller: Pick<ApiKeyIdentity, "id" | "fundingAddress">,
  requestId: RequestId,
  { origin, hash, destination }: Pick<ExecutionQuestion, "origin" | "hash" | "destination">,
): Promise<Quoted> {
  const [record, known] = await Promise.all([
    services.reads.request(requestId),
    services.reads.execution(requestId),
  ]);
  if (record === undefined) throw refusal(`requestId ${requestId} is unknown`);
  // Accepted between the two readings: the same question must have the same answer.
  const isOvertaken = known === undefined && record.state.name === "accepted";
  const execution = isOvertaken ? await services.reads.execution(requestId) : known;
  if (execution !== undefined) {
    if (execution.keyId === caller.id && execution.questionHash === hash) return { kind: "already" };
    throw refusal(`requestId ${requestId} is executed already, by another call`);
  }
  const { terms, supersededBy } = record;
  // Their deposit address has given its money to the successor.
  if (supersededBy !== undefined)
    throw refusal(
      `requestId ${requestId} is superseded by request ${supersededBy}; execute that one instead`,
    );
  if (terms.kind !== "bridge")
    throw refusal(
      `requestId ${requestId} is a payment by the user himself: send it as a call without requestId`,
    );
  if (terms.origin.chainId !== origin.chain.id)
    throw refusal(
      `data.chainId must be ${terms.origin.chainId}, the origin chain of the quote, and is ${origin.chain.id}`,
    );
  await refuseStranger(services, caller, record);
  refuseLate(record, destination !== undefined, services.clock.nowMs());
  return { kind: "open", record };
}

/**
 * A failed execution closes a quote, so only the app that asked for a quote may execute it: by the same key, or by another one of the same funding wallet, as where a browser asks and a server
 * executes. A quote asked for without a key is anybody's. @throws ServiceError
 */
async function refuseStranger(
  { uow }: Pick<Services, "uow">,
  caller: Pick<ApiKeyIdentity, "id" | "fundingAddress">,
  { terms: { requestId, keyId } }: RequestRecord,
): Promise<void> {
  if (keyId === undefined || keyId === caller.id || caller.id === PERMIT_KEY_ID) return;
  const asker = await uow.run((tx) => tx.sponsors.key(keyId));
  const isSameApp = asker?.fundingAddress !== undefined && asker.fundingAddress === caller.fundingAddress;
  if (!isSameApp)
    throw refusal(
      `requestId ${requestId} was quoted with another API key: execute it with that key, or with one of the same funding address`,
    );
}

/** @throws ServiceError saying what became of the quote meanwhile */
function refuseLate({ terms, state }: RequestRecord, hasCallsBeside: boolean, nowMs: number): void {
  const { requestId } = terms;
  if (!acceptsExecution(state, hasCallsBeside)) throw refusal(`requestId ${requestId} ${whatIsOf(state)}`);
  if (nowMs <= terms.fillDeadlineMs) return;
  throw refusal(
    state.name === "quoted"
      ? `requestId ${requestId} ${EXPIRED}`
      : `requestId ${requestId} is filled ahead of its deposit, and the time for its deposit is over`,
  );
}

/** Why a request does not take an execution. */
function whatIsOf({ name, front, depositId }: RequestState): string {
  if (front !== "none" && depositId === undefined)
    return "is being filled ahead of its deposit, or is filled: destinationChainExecutionData can not be a part of that any more";
  switch (name) {
    case "expired":
      return EXPIRED;
    case "filled":
      return "has its deposit already, and is filled";
    case "refunding":
      return "has had its deposit, which goes back";
    case "refunded":
      return "has had its deposit, which was refunded";
    case "failed":
      return "has failed, with its deposit";
    case "quoted":
    case "accepted":
    case "depositing":
      return "is being executed by another call";
    case "deposited":
    case "fillable":
    case "filling":
    case "submitted":
      return "has its deposit already";
    default:
      return unreachable(name);
  }
}
