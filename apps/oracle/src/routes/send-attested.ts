import { sendJson } from "@causeway/service-kit";
import type { FastifyReply } from "fastify";
import type { Attested } from "../ports/route-services.ts";
import type { RouteOptions } from "./typed.ts";

/** Sends an answer with what stands behind it, in the body and in headers. Peers' own words about that are not passed on. */
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
  const body: Record<string, unknown> = { ...answer, quorum };
  if (shadow) body["shadow"] = true;
  else delete body["shadow"];
  return sendJson(reply, JSON.stringify(body));
}

/** The caller's key, as some peers are asked with it. */
export function callerOf(headers: Readonly<Record<string, unknown>>): {
  readonly apiKey: string | undefined;
} {
  const key = headers["x-api-key"];
  return { apiKey: typeof key === "string" ? key : undefined };
}
