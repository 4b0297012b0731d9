import type { TraceOutcome } from "@causeway/chains";
import { serviceContracts, ServiceError } from "@causeway/domain";
import type { Address, Chain } from "@causeway/domain";
import { PERMIT_KEY_ID } from "../../chains/permits.port.ts";
import type { ExecutionRecord } from "../executions.port.ts";
import type { LaneCall } from "../../db/leg.port.ts";
import type { Services } from "../../db/services.port.ts";
import { ownAccounts } from "../../chains/lane-signers.ts";
import type { OwnKeys } from "../../chains/lane-signers.ts";

type OnChain = { readonly chain: Pick<Chain, "name" | "contracts"> };

/**
 * The contract of the service that a call made for others would have one of our accounts call; undefined:
 * none. What such a contract does, it does by the role of its caller: an executor that operated a deposit
 * address factory would move other people's money.
 * @param inner calls that the call makes, as far as the node tells: the executor calls further contracts only
 * when it has code of its own
 */
export function calledAsUs(
  keys: OwnKeys,
  { chain }: OnChain,
  { to }: Pick<LaneCall, "to">,
  inner: Extract<TraceOutcome, { kind: "ok" }>["calls"] = [],
): Address | undefined {
  const guarded = serviceContracts(chain.contracts);
  if (guarded.has(to)) return to;
  const ours = ownAccounts(keys);
  return inner.find((call) => ours.includes(call.from) && guarded.has(call.to))?.to;
}

/**
 * @throws ServiceError INVALID_REQUEST, with an alarm: such a call is an attack or a misunderstanding worth a
 * look
 */
export function refuseOwnContracts(
  services: OwnKeys & Pick<Services, "events">,
  on: OnChain,
  call: Pick<LaneCall, "to">,
  keyId: string,
  inner?: Extract<TraceOutcome, { kind: "ok" }>["calls"],
): void {
  const target = calledAsUs(services, on, call, inner);
  if (target === undefined) return;
  services.events.alarm("execution_target_refused", { chain: on.chain.name, target, keyId });
  throw new ServiceError(
    "INVALID_REQUEST",
    `data.to: ${target} is a contract of this service, which executions must not call; have the user's account or another contract call it`,
  );
}

/**
 * The same of a call that was accepted: the configuration may know more contracts by now.
 * @returns undefined: it may be sent. Signatures of quotes are submitted to our own contracts, by a call that
 * we wrote
 */
export function refusedTarget(
  services: OwnKeys & Pick<Services, "events">,
  on: OnChain,
  { requestId, keyId, call }: Pick<ExecutionRecord, "requestId" | "keyId" | "call">,
  inner?: Extract<TraceOutcome, { kind: "ok" }>["calls"],
): Address | undefined {
  if (keyId === PERMIT_KEY_ID) return undefined;
  const target = calledAsUs(services, on, call, inner);
  if (target !== undefined)
    services.events.alarm("execution_target_refused", { chain: on.chain.name, target, keyId, requestId });
  return target;
}
