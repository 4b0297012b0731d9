import type { TraceOutcome } from "@causeway/chains";
import { serviceContracts, ServiceError } from "@causeway/domain";
import type { Address, Chain } from "@causeway/domain";
import { PERMIT_KEY_ID } from "../../chains/permits.port.ts";
import type { ExecutionRecord } from "../executions.port.ts";
import type { LaneCall } from "../../db/leg.port.ts";
import type { Services } from "../../db/services.port.ts";
import { ownAccounts, type OwnKeys } from "../../chains/index.ts";

type OnChain = { readonly chain: Pick<Chain, "name" | "contracts"> };

/**
 * The service's own contract that a call for others would call from one of our accounts; undefined: none.
 * Such contracts trust their caller: an executor that operated a deposit address factory could move other
 * users' funds.
 * @param innerCalls calls that the call makes, as far as traced: the executor calls further contracts only if
 * it has code
 */
export function findCalledOwnContract(
  keys: OwnKeys,
  { chain }: OnChain,
  { to }: Pick<LaneCall, "to">,
  innerCalls: Extract<TraceOutcome, { kind: "ok" }>["calls"] = [],
): Address | undefined {
  const guarded = serviceContracts(chain.contracts);
  if (guarded.has(to)) return to;
  const ours = ownAccounts(keys);
  return innerCalls.find((call) => ours.includes(call.from) && guarded.has(call.to))?.to;
}

/**
 * @throws ServiceError INVALID_REQUEST, with an alarm: such a call is an attack or a mistake worth checking
 */
export function refuseOwnContracts(
  services: OwnKeys & Pick<Services, "events">,
  connected: OnChain,
  call: Pick<LaneCall, "to">,
  keyId: string,
  innerCalls?: Extract<TraceOutcome, { kind: "ok" }>["calls"],
): void {
  const target = findCalledOwnContract(services, connected, call, innerCalls);
  if (target === undefined) return;
  services.events.alarm("execution_target_refused", { chain: connected.chain.name, target, keyId });
  throw new ServiceError(
    "INVALID_REQUEST",
    `data.to: ${target} is a contract of this service, which executions must not call; have the user's account or another contract call it`,
  );
}

/**
 * Checks an accepted call again: the configuration may list more contracts by now. Permit submissions call
 * our own contracts with calldata that we wrote, so they are exempt.
 * @returns the contract that must not be called, with an alarm; undefined: the call may be sent
 */
export function findRefusedTarget(
  services: OwnKeys & Pick<Services, "events">,
  connected: OnChain,
  { requestId, keyId, call }: Pick<ExecutionRecord, "requestId" | "keyId" | "call">,
  innerCalls?: Extract<TraceOutcome, { kind: "ok" }>["calls"],
): Address | undefined {
  if (keyId === PERMIT_KEY_ID) return undefined;
  const target = findCalledOwnContract(services, connected, call, innerCalls);
  if (target !== undefined)
    services.events.alarm("execution_target_refused", {
      chain: connected.chain.name,
      target,
      keyId,
      requestId,
    });
  return target;
}
