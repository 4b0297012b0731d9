import { traceAnswer, traceParams } from "@causeway/wire";
import type { TraceEntry } from "./past-requests.port.ts";
import type { Calls } from "../../http/use-cases.port.ts";
import { requestTrace } from "./request-trace.ts";
import { errors, type TypedServer } from "../../http/typed.route.ts";
import { parseHash } from "../../http/wire-values.ts";
import { requestNotFound } from "../../http/refusals.ts";

/** `GET /requests/{requestId}/trace`: where the money of a request is and why. */
export function requestTraceRoute(app: TypedServer, { call }: Calls<typeof requestTrace>): void {
  app.get(
    "/requests/:requestId/trace",
    {
      config: { access: { kind: "anybody", scope: "read" } },
      schema: {
        tags: ["requests"],
        operationId: "getRequestTrace",
        summary: "Trace a request: where its funds are and why",
        description:
          "Lists everything the service saw, decided, signed and sent for the request, in order: deposits, states, nonces, every signed transaction with its fees and the one it replaces, settlement, and app balance movements.",
        params: traceParams,
        response: { 200: traceAnswer, ...errors(400, 401, 403, 404, 429, 500, 503) },
      },
    },
    async ({ params }) => {
      const requestId = parseHash(params.requestId);
      const trace = await call(requestTrace, requestId);
      if (trace === undefined) throw requestNotFound(requestId);
      return { ...trace, entries: trace.entries.map(entryJson) };
    },
  );
}

function entryJson({ atMs, kind, facts }: TraceEntry): {
  at: string;
  atMs: number;
  kind: string;
  [fact: string]: unknown;
} {
  const plain = JSON.parse(
    JSON.stringify(facts, (_name, value: unknown) => (typeof value === "bigint" ? value.toString() : value)),
  ) as Record<string, unknown>;
  // A fact of an event may have the same name as a field of the entry.
  return { ...plain, at: new Date(atMs).toISOString(), atMs, kind };
}
