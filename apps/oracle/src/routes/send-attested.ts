import { addressBlock, sendJson } from "@causeway/service-kit";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Attested, Caller } from "../ports/route-services.ts";
import type { RouteOptions } from "./typed.ts";

/**
 * Sends an answer and its agreement, in the body and in headers. What peers report about agreement is not
 * passed on.
 */
export function sendAttested<Answer extends object>(
  reply: FastifyReply,
  { answer, quorum }: Attested<Answer>,
  { shadow }: RouteOptions,
): FastifyReply {
  reply.headers({
    "x-attestation-local": quorum.local,
    "x-attestation-signers": quorum.signers,
    "x-attestation-threshold": quorum.threshold,
  });
  const { shadow: _, ...rest } = answer as Answer & { readonly shadow?: unknown };
  return sendJson(reply, JSON.stringify(shadow ? { ...rest, quorum, shadow } : { ...rest, quorum }));
}

/** The caller: its key, which some peers get too, and whether it still waits for the answer. */
export function callerOf(
  { headers, ip }: Pick<FastifyRequest, "headers" | "ip">,
  reply: FastifyReply,
  { keyed }: Pick<RouteOptions, "keyed">,
): Caller {
  const key = headers["x-api-key"];
  const apiKey = typeof key === "string" ? key : undefined;
  // Without required keys, an invented one must not give its caller its own limit.
  const id = keyed && apiKey !== undefined ? `key ${apiKey}` : `address ${addressBlock(ip)}`;
  return { id, apiKey, gone: () => closedBeforeItsEnd(reply.raw) };
}

/** Of the response, not the request: a request closes as soon as its body is read. */
function closedBeforeItsEnd(response: FastifyReply["raw"]): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}
