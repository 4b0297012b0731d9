import { findUserOperationRefusal, isEntryPoint, readHandleOps } from "@causeway/chains";
import type { Authorization, CallPlan } from "@causeway/chains";
import type { Address, ErrorCode, Hex, RequestId, SponsoredCall } from "@causeway/domain";
import { ServiceError, sha256Text } from "@causeway/domain";
import type { ExecuteInput } from "@causeway/wire";
import type { ChainDirectory, ConnectedChain } from "../../chains/chains.port.ts";
import type { LaneCall } from "../../db/leg.port.ts";
import { disabledChain } from "../../http/refusals.ts";

/** A parsed request to send a call for a user. */
export interface ParsedExecution {
  readonly origin: ConnectedChain;
  readonly call: LaneCall;
  readonly sponsored: boolean;
  /** The request whose quote is executed. Undefined: the call belongs to no quote. */
  readonly requestId: RequestId | undefined;
  readonly destination: DestinationCalls | undefined;
  /**
   * The user for whom the call is sent: the called account, or the sender of the user operations. Undefined
   * if they have several senders.
   */
  readonly user: Address | undefined;
  /** SHA-256 of the request; equal requests have equal hashes. */
  readonly hash: Hex;
}

export interface DestinationCalls {
  readonly calls: readonly CallPlan[];
  readonly authorizationList: readonly Authorization[] | undefined;
}

/** @throws ServiceError for requests that can never be executed */
export function readExecution(chains: ChainDirectory, input: ExecuteInput): ParsedExecution {
  const { data, executionOptions: options } = input;
  const origin = enabledChain(chains, Number(data.chainId));
  const call = { ...callOf(data), authorizationList: authorizationsOf(data.authorizationList) };
  refuseTooLarge("data", [call], call.authorizationList);
  const requestId = input.requestId?.toLowerCase() as RequestId | undefined;
  const destinationCalls = options.destinationChainExecutionData;
  if (destinationCalls !== undefined && requestId === undefined)
    throw refusal("destinationChainExecutionData requires requestId: the calls run with the fill of a quote");
  const destination = destinationCalls && {
    calls: destinationCalls.calls.map(callOf),
    authorizationList: authorizationsOf(destinationCalls.authorizationList),
  };
  if (destination !== undefined)
    refuseTooLarge("destinationChainExecutionData", destination.calls, destination.authorizationList);
  const content = { call, requestId, destination, sponsored: options.subsidizeFees };
  return { ...content, origin, user: userOf(call), hash: hashOf({ chainId: origin.chain.id, ...content }) };
}

/** A call in the form that sponsor rules use. */
export function sponsoredCall({ to, data }: Pick<CallPlan, "to" | "data">): SponsoredCall {
  return { target: to, selector: data.length < 10 ? undefined : (data.slice(0, 10) as Hex) };
}

export function refusal(message: string, code: ErrorCode = "INVALID_REQUEST"): ServiceError {
  return new ServiceError(code, message);
}

/** Maximum size in bytes of a transaction that node mempools accept. */
const MAX_BYTES = 131_072;
/**
 * Upper bounds of the encoded sizes: a transaction without calls and authorizations, a call without its data,
 * and an authorization.
 */
const FRAME_BYTES = 1_500;
const CALL_BYTES = 300;
const AUTHORIZATION_BYTES = 160;

function refuseTooLarge(
  field: string,
  calls: readonly CallPlan[],
  authorizationList: readonly Authorization[] = [],
): void {
  const overhead = FRAME_BYTES + AUTHORIZATION_BYTES * authorizationList.length;
  const bytes = calls.reduce((sum, { data }) => sum + CALL_BYTES + (data.length - 2) / 2, overhead);
  if (bytes > MAX_BYTES)
    throw refusal(
      `${field}: the transaction may need up to ${bytes} bytes, but at most ${MAX_BYTES} are allowed; shorten its data`,
    );
}

function enabledChain(chains: ChainDirectory, id: number): ConnectedChain {
  const connected = chains.get(id);
  if (connected === undefined)
    throw refusal(
      `data.chainId must be a supported EVM chain, got ${id}; GET /chains lists the supported chains`,
      "UNSUPPORTED_CHAIN",
    );
  if (connected.chain.disabled) throw disabledChain(connected.chain);
  return connected;
}

function callOf({ to, data, value }: { to: string; data: string; value: string | number }): CallPlan {
  return { to: to.toLowerCase() as Address, data: data.toLowerCase() as Hex, value: BigInt(value) };
}

type WireAuthorization = NonNullable<ExecuteInput["data"]["authorizationList"]>[number];

function authorizationsOf(
  list: readonly WireAuthorization[] | undefined,
): readonly Authorization[] | undefined {
  return list?.map(({ chainId, address, nonce, yParity, r, s }) => ({
    chainId,
    address: address.toLowerCase() as Address,
    nonce,
    yParity,
    r: paddedWord(r),
    s: paddedWord(s),
  }));
}

const paddedWord = (text: string): Hex => `0x${text.slice(2).toLowerCase().padStart(64, "0")}`;

function userOf({ to, data }: CallPlan): Address | undefined {
  const handleOps = readHandleOps(data);
  if (handleOps === undefined) return to;
  const refused = findUserOperationRefusal(handleOps);
  if (refused !== undefined) throw refusal(`data.data: ${refused.message}`);
  // Anyone can put any sender into calldata for their own contract: only an entry point verifies that the
  // sender agreed.
  if (handleOps.kind !== "read" || !isEntryPoint(to)) return to;
  const senders = new Set(handleOps.ops.map(({ sender }) => sender));
  const [sender] = senders;
  return senders.size === 1 ? sender : undefined;
}

function hashOf(content: object): Hex {
  const text = JSON.stringify(content, (_key, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
  return `0x${Buffer.from(sha256Text(text)).toString("hex")}`;
}
