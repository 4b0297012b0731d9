import { unreachable } from "@causeway/domain";
import type { RequestId, RequestState } from "@causeway/domain";
import { PERMIT_KEY_ID } from "../chains/permits.port.ts";
import type { ApiKeyIdentity } from "../http/api-keys.port.ts";
import type { RequestRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { acceptsExecution, type ParsedExecution, refusal } from "../payments/index.ts";
import { requestNotFound } from "../http/refusals.ts";

const EXPIRED = "expired; request a new quote";

/** The quote to be executed. */
export type QuoteToExecute =
  | { readonly kind: "open"; readonly record: RequestRecord }
  /** The same call was accepted before. */
  | { readonly kind: "alreadyAccepted" };

/**
 * Finds the quote to execute.
 * @throws ServiceError if the quote does not exist or has expired, or if this call cannot execute it
 */
export async function findQuoted(
  services: Pick<Services, "reads" | "clock" | "uow">,
  caller: Pick<ApiKeyIdentity, "id" | "fundingAddress">,
  requestId: RequestId,
  { origin, hash, destination }: Pick<ParsedExecution, "origin" | "hash" | "destination">,
): Promise<QuoteToExecute> {
  const [record, firstRead] = await Promise.all([
    services.reads.request(requestId),
    services.reads.execution(requestId),
  ]);
  if (record === undefined) throw refusal(requestNotFound(requestId).message);
  // If the call was accepted between the two reads, the same call must get the same answer.
  const isOvertaken = firstRead === undefined && record.state.name === "accepted";
  const execution = isOvertaken ? await services.reads.execution(requestId) : firstRead;
  if (execution !== undefined) {
    if (execution.keyId === caller.id && execution.bodyHash === hash) return { kind: "alreadyAccepted" };
    throw refusal(`Request ${requestId} was already executed by another call`);
  }
  const { terms, supersededBy } = record;
  // The funds at the request's deposit address belong to its successor.
  if (supersededBy !== undefined)
    throw refusal(`Request ${requestId} is superseded by request ${supersededBy}; execute that one instead`);
  if (terms.kind !== "bridge")
    throw refusal(
      `Request ${requestId} is a direct payment by the user; send it as a call without requestId`,
    );
  if (terms.origin.chainId !== origin.chain.id)
    throw refusal(
      `data.chainId must be ${terms.origin.chainId}, the origin chain of the quote, got ${origin.chain.id}`,
    );
  await refuseOtherApp(services, caller, record);
  requireOpen(record, destination !== undefined, services.clock.nowMs());
  return { kind: "open", record };
}

/**
 * A failed execution closes a quote, so only the app that requested it may execute it: with the same key, or
 * with another key that has the same funding address, such as the server key of an app whose browser
 * requested the quote. Anyone may execute a quote that was requested without a key.
 * @throws ServiceError
 */
async function refuseOtherApp(
  { uow }: Pick<Services, "uow">,
  caller: Pick<ApiKeyIdentity, "id" | "fundingAddress">,
  { terms: { requestId, keyId } }: RequestRecord,
): Promise<void> {
  if (keyId === undefined || keyId === caller.id || caller.id === PERMIT_KEY_ID) return;
  const requester = await uow.run((tx) => tx.sponsors.key(keyId));
  const isSameApp =
    requester?.fundingAddress !== undefined && requester.fundingAddress === caller.fundingAddress;
  if (!isSameApp)
    throw refusal(
      `Request ${requestId} was quoted with another API key; use that key, or one with the same funding address`,
    );
}

/** @throws ServiceError that says why the quote is no longer open */
function requireOpen({ terms, state }: RequestRecord, hasDestinationCalls: boolean, nowMs: number): void {
  const { requestId } = terms;
  if (!acceptsExecution(state, hasDestinationCalls))
    throw refusal(`Request ${requestId} ${describeState(state)}`);
  if (nowMs <= terms.fillDeadlineMs) return;
  throw refusal(
    state.name === "quoted"
      ? `Request ${requestId} ${EXPIRED}`
      : `Request ${requestId} was fast filled, and its deposit deadline has passed`,
  );
}

/** Why a request does not accept an execution. */
function describeState({ name, front, depositId }: RequestState): string {
  if (front !== "none" && depositId === undefined)
    return "is already fast filled or being fast filled; destinationChainExecutionData can no longer be added";
  switch (name) {
    case "expired":
      return EXPIRED;
    case "filled":
      return "already has a deposit and is filled";
    case "refunding":
      return "already has a deposit, which is being refunded";
    case "refunded":
      return "already has a deposit, which was refunded";
    case "failed":
      return "already has a deposit and failed";
    case "quoted":
    case "accepted":
    case "depositing":
      return "is already being executed by another call";
    case "deposited":
    case "fillable":
    case "filling":
    case "submitted":
      return "already has a deposit";
    default:
      return unreachable(name);
  }
}
