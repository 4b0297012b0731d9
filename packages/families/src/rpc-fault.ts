import type { Hex } from "@causeway/domain";
import { saysRateLimit } from "./rate-limit.ts";

/** The kind of fault of a node or the network. */
export type RpcFaultKind =
  /** The connection failed or broke. */
  | "network"
  /** No complete answer before the deadline. */
  | "deadline"
  /** An HTTP status other than 200 without a JSON-RPC response in the body. */
  | "http"
  /** A malformed or wrong answer: not JSON, another id, another hash, missing fields. */
  | "garbage"
  /** The answer exceeded the size bound. */
  | "tooLarge"
  /** Calls that need a common answer could not be sent as one batch. */
  | "batchRefused"
  /** The node answered with a JSON-RPC error. */
  | "refused"
  /** The node serves another chain than the configured one. */
  | "wrongChain"
  /** The node no longer has the history that the answer needs. Another node may have it. */
  | "pruned"
  /** Answers contradict each other, or the chain changed between two reads. Retry. */
  | "inconsistent"
  /** The connection was closed by us, or the caller's signal aborted the call. */
  | "aborted";

export interface RpcFaultFacts {
  readonly kind: RpcFaultKind;
  readonly method: string;
  /** Readable text without the node's URL or anything else that may contain credentials. */
  readonly reason: string;
  /**
   * The call failed because of the endpoint's rate limit, our own limit, or the pause after either, not
   * because of the requested data. Default: false.
   */
  readonly isPause?: boolean;
  readonly cause?: unknown;
}

/**
 * The node or the network failed: this call proves nothing about the chain.
 *
 * Never means that a transaction is invalid or that a call reverts; those are values.
 */
export class RpcFault extends Error {
  readonly code = "RPC_FAULT";
  readonly kind: RpcFaultKind;
  readonly method: string;
  readonly reason: string;
  /** False only if a retry cannot succeed until the configuration or the node changes. */
  readonly retryable: boolean;
  /** See {@link RpcFaultFacts.isPause}. */
  readonly isPause: boolean;

  constructor(facts: RpcFaultFacts) {
    super(`${facts.method}: ${facts.reason}`, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = "RpcFault";
    this.kind = facts.kind;
    this.method = facts.method;
    this.reason = facts.reason;
    this.retryable = facts.kind !== "wrongChain";
    this.isPause = facts.isPause === true;
  }
}

/** The node answered with a JSON-RPC error object. Only `rpc-errors.ts` interprets it. */
export class NodeRefusal extends RpcFault {
  readonly nodeCode: number;
  /** The node's own text, without URLs and credentials. */
  readonly nodeText: string;
  /** `error.data` as received. */
  readonly nodeData: unknown;

  constructor(facts: { method: string; nodeCode: number; nodeText: string; nodeData: unknown }) {
    super({
      kind: "refused",
      method: facts.method,
      reason: `the node returned error ${facts.nodeCode}: ${facts.nodeText}`,
      isPause: saysRateLimit({ code: facts.nodeCode, message: facts.nodeText, data: facts.nodeData }),
    });
    this.name = "NodeRefusal";
    this.nodeCode = facts.nodeCode;
    this.nodeText = facts.nodeText;
    this.nodeData = facts.nodeData;
  }
}

/** Whether an error or its cause is an HTTP error response, such as 429 for a rate limit. */
export function isHttpFault(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof RpcFault && cause.kind === "http") return true;
  return false;
}

/** Creates the fault for a malformed answer. */
export function garbage(method: string, reason: string): RpcFault {
  return new RpcFault({ kind: "garbage", method, reason });
}

/** Creates the fault for answers that contradict each other. */
export function inconsistent(method: string, reason: string): RpcFault {
  return new RpcFault({ kind: "inconsistent", method, reason });
}

/** {@link withoutSecrets}, cut to 300 characters. */
export function redact(text: string, secretUrl?: string): string {
  const clean = withoutSecrets(text, secretUrl);
  return clean.length > 300 ? `${clean.slice(0, 300)}…` : clean;
}

/**
 * Removes everything from foreign text that could reveal the node: URLs, and every part of `secretUrl` that
 * may be a credential (user, password, path segments and query values of 6 characters or more).
 */
export function withoutSecrets(text: string, secretUrl?: string): string {
  let clean = text.replaceAll(/\b(?:https?|wss?):\/\/\S+/gi, "[url]");
  if (secretUrl !== undefined) {
    for (const part of secretParts(secretUrl)) clean = clean.replaceAll(part, "[redacted]");
  }
  return clean;
}

function secretParts(secretUrl: string): string[] {
  if (!URL.canParse(secretUrl)) return [secretUrl];
  const url = new URL(secretUrl);
  const parts = [
    url.host,
    url.hostname,
    url.username,
    url.password,
    ...url.pathname.split("/"),
    ...url.searchParams.values(),
  ];
  return parts.filter((part) => part.length >= 6).sort((a, b) => b.length - a.length);
}

/** An empty revert: no data at all. */
export const NO_REVERT_DATA: Hex = "0x";
