import { ServiceError } from "@causeway/domain";
import { normalizeIP } from "@fastify/rate-limit";
import { endOfStream, STATUS_EVENT, streamQuery } from "@causeway/wire";
import type { ServerResponse } from "node:http";
import type { StatusPush, StatusUpdate } from "./status-push.port.ts";
import type { StopListening } from "../requests/status-feed.port.ts";
import { statusJson } from "../requests/status-json.route.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";
import { parseHash } from "../http/wire-values.ts";
import { requestNotFound } from "../http/refusals.ts";

/** Maximum number of buffered bytes. With more, the client counts as stalled. */
const MAX_UNSENT_BYTES = 262_144;
/** After this time, a client that lost the stream reconnects. */
const RETRY_MS = 1_000;

/**
 * `GET /intents/status/v3/stream`: the status of one request and every change, as server-sent events, until
 * the status is final.
 */
export function statusStreamRoute(app: TypedServer, { push }: { readonly push: StatusPush }): void {
  const openStreams = new Set<ServerResponse>();
  app.get(
    "/intents/status/v3/stream",
    {
      config: { limited: "status" },
      schema: {
        tags: ["status"],
        operationId: "streamRequestStatus",
        summary: "Stream the status of a request as server-sent events until it is final",
        description:
          "Each event is named `request.status.updated`. Its data is a response of GET /intents/status/v3; its id counts the changes of the request. " +
          "A client that reconnects with `Last-Event-ID` receives the events it missed, or 204 if there will be no more events.",
        querystring: streamQuery,
        response: { 204: endOfStream, ...errors(400, 401, 403, 404, 429, 500, 503) },
      },
    },
    async (request, reply) => {
      const requestId = parseHash(request.query.requestId);
      const release = push.connections.take(normalizeIP(request.ip));
      if (release === undefined)
        throw new ServiceError("RATE_LIMITED", "Too many open connections; close one or retry later");
      const { raw } = reply;
      const lastSequence = lastEventId(request.headers["last-event-id"]);
      const bufferedUpdates: StatusUpdate[] = [];
      let isStreaming = false;
      const end = (): void => {
        if (!raw.writableEnded) raw.end();
      };
      const write = (update: StatusUpdate): void => {
        if (raw.writableEnded) return;
        push.sockets.messages++;
        raw.write(`event: ${STATUS_EVENT}\nid: ${update.sequence}\ndata: ${statusJson(update.view)}\n\n`);
        if (update.view.final) end();
        else if (raw.writableLength > MAX_UNSENT_BYTES) {
          push.sockets.closed++;
          raw.destroy();
        }
      };
      let stop: StopListening;
      try {
        const unfollow = await push.follow(
          requestId,
          {
            updated: (update) => (isStreaming ? write(update) : void bufferedUpdates.push(update)),
            lost: () => {
              push.sockets.closed++;
              if (isStreaming) end();
              else raw.destroy();
            },
          },
          lastSequence,
        );
        if (unfollow === undefined) throw requestNotFound(requestId);
        const [current] = bufferedUpdates;
        // 204 ends the stream: with any other answer, a browser would reconnect forever.
        if (current?.sequence === lastSequence && current?.view.final === true) {
          unfollow();
          release();
          return await reply.code(204).send(null);
        }
        stop = unfollow;
      } catch (error) {
        release();
        throw error;
      }
      reply.hijack();
      push.sockets.streams++;
      openStreams.add(raw);
      const keepAlive = setInterval(() => void raw.write(": still here\n\n"), push.policy.heartbeatMs);
      const close = (): void => {
        if (!openStreams.delete(raw)) return;
        clearInterval(keepAlive);
        stop();
        release();
        push.sockets.streams--;
      };
      raw.once("close", close);
      // If the client disconnected during the look-up, `close` is not emitted again.
      if (raw.destroyed) return close();
      for (const [name, value] of Object.entries(reply.getHeaders()))
        if (value !== undefined) raw.setHeader(name, value);
      raw.writeHead(200, {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        // Buffering proxies would hold events back.
        "x-accel-buffering": "no",
      });
      isStreaming = true;
      raw.write(`retry: ${RETRY_MS}\n\n`);
      for (const update of bufferedUpdates) if (update.sequence !== lastSequence) write(update);
      return undefined;
    },
  );
  app.addHook("preClose", (done) => {
    for (const raw of openStreams) raw.end();
    done();
  });
}

function lastEventId(header: string | string[] | undefined): number | undefined {
  return typeof header === "string" && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}
