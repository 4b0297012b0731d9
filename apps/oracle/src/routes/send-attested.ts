import { addressBlock, sendJson } from "@causeway/service-kit";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Attested, Caller } from "../ports/route-services.ts";
import type { RouteOptions } from "./typed.ts";

/**
 * Sends an answer and its quorum, in the body and in headers. The quorum that peers report is not passed on.
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

/** The caller: its API key, which pass-through peers also get, and a signal that aborts on disconnect. */
export function callerOf(
  { headers, ip }: Pick<FastifyRequest, "headers" | "ip">,
  reply: FastifyReply,
  { keyed }: Pick<RouteOptions, "keyed">,
): Caller {
  const key = headers["x-api-key"];
  const apiKey = typeof key === "string" ? key : undefined;
  // Without required keys, an invented key must not give its caller a separate limit.
  const id = keyed && apiKey !== undefined ? `key ${apiKey}` : `address ${addressBlock(ip)}`;
  return { id, apiKey, disconnected: () => abortOnDisconnect(reply.raw) };
}

/** Listens to the response, because a request closes as soon as its body is read. */
function abortOnDisconnect(response: FastifyReply["raw"]): AbortSignal {
  const controller = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}
