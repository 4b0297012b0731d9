import proxyAddr from "@fastify/proxy-addr";
import { normalizeIP } from "@fastify/rate-limit";
import { ServiceError } from "@causeway/domain";
import { answerFor, trustedHops, type TrustedProxies } from "@causeway/service-kit";
import type { FastifyInstance } from "fastify";
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket, WebSocketServer } from "ws";
import type { ApiKeyIdentity, ApiKeys } from "../http/api-keys.port.ts";
import type { Clock } from "../db/clock.port.ts";
import type { RateLimits } from "../http/rate-limits.port.ts";
import type { StatusPush } from "./status-push.port.ts";
import { checkOrigin, readSentKey, validKey } from "../http/access.route.ts";
import { frameQuota } from "../http/frame-quota.route.ts";
import { keyGuessLimit } from "../http/rate-limit.route.ts";
import { closeReasons, converse } from "./socket-conversation.route.ts";
import { readyFrame } from "./socket-frames.ts";
import { unsentBytes } from "../http/unsent-bytes.route.ts";

/** Larger than any valid frame of a client. */
const MAX_FRAME_BYTES = 4_096;
/** Limits of buffered bytes that clients have not read. A client that exceeds a limit counts as stalled. */
const UNSENT = { perSocket: 65_536, total: 64 * 1024 * 1024, stalledMs: 30_000 };
/** How long a closing process waits for clients to close their sockets. */
const CLOSE_WITHIN_MS = 1_000;
/**
 * How often the keys of open sockets are checked: changes of a key should take effect about as fast as for
 * requests.
 */
const KEY_CHECK_MS = 1_000;
/** The documented URL has no path, but some clients add `/ws`. */
const PATHS: ReadonlySet<string> = new Set(["/", "/ws"]);

interface SocketNeeds {
  readonly push: StatusPush;
  readonly apiKeys: ApiKeys;
  /** Undefined: rate limits are disabled. */
  readonly limits: RateLimits | undefined;
  readonly clock: Clock;
}

/** An open socket. */
interface OpenSocket {
  readonly key: { readonly text: string; readonly identity: ApiKeyIdentity } | undefined;
  isAlive: boolean;
}

/**
 * Serves `request.status.updated` over WebSocket, on the port of the API. A client without a key can
 * subscribe to requests by id. Does not use the framework's plugin, because it would wrap the handler of
 * every other route.
 */
export function statusSockets(app: FastifyInstance, services: SocketNeeds): void {
  const { push, apiKeys } = services;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    clientTracking: false,
  });
  const openSockets = new Map<WebSocket, OpenSocket>();
  const quota = frameQuota();
  const unsent = unsentBytes<WebSocket>(UNSENT, () => performance.now());
  const guessLimit = keyGuessLimit(services.limits);
  const addressOf = remoteAddress(push.policy.trustProxy);
  let isEnding = false;

  // With an `upgrade` listener, Node emits it for every request that offers an upgrade, and some HTTP clients
  // offer one with every plain request.
  Object.assign(app.server, { shouldUpgradeCallback: isSocketRequest });
  app.server.on("upgrade", (request: IncomingMessage, raw: Duplex, head: Buffer) => {
    // Until the library takes over the socket, it has no other error listener, and an unhandled error would
    // end the process.
    const onError = (): void => void raw.destroy();
    raw.on("error", onError);
    admit(request).then(
      ({ key, address, release }) => {
        raw.off("error", onError);
        raw.once("close", release);
        if (raw.destroyed) return release();
        return server.handleUpgrade(request, raw, head, (socket) => openSocket(socket, key, address));
      },
      (error: unknown) => refuse(raw, error),
    );
  });

  /** @throws ServiceError when the socket must not be opened */
  async function admit(
    request: IncomingMessage,
  ): Promise<{ readonly key: OpenSocket["key"]; readonly address: string; readonly release: () => void }> {
    // Node versions without `shouldUpgradeCallback` pass such requests to this listener.
    if (!isSocketRequest(request))
      throw new ServiceError("NOT_FOUND", "WebSocket endpoint not found; connect to /");
    if (isEnding) throw new ServiceError("SERVICE_UNAVAILABLE", "The service is restarting; reconnect");
    const ip = addressOf(request);
    const address = normalizeIP(ip);
    const release = push.connections.take(address);
    if (release === undefined)
      throw new ServiceError("RATE_LIMITED", "Too many open connections; close one or retry later");
    try {
      const text = keyTextOf(request);
      if (text === undefined) return { key: undefined, address, release };
      const identity = await validKey({ apiKeys, guessLimit }, text, { ip });
      checkOrigin(identity, request.headers.origin);
      return { key: { text, identity }, address, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  function openSocket(socket: WebSocket, key: OpenSocket["key"], address: string): void {
    const state: OpenSocket = { key, isAlive: true };
    openSockets.set(socket, state);
    push.sockets.sockets++;
    const conversation = converse(
      { ...push, clock: services.clock },
      {
        takeFrame: () => quota.take(address, performance.now()),
        send(frame) {
          if (socket.readyState !== WebSocket.OPEN) return;
          socket.send(frame, () => noteUnsent(socket));
          noteUnsent(socket);
        },
        close({ code, reason }) {
          if (socket.readyState !== WebSocket.OPEN) return;
          push.sockets.closed++;
          socket.close(code, reason);
        },
      },
      key?.identity,
    );
    socket.on("error", () => socket.terminate());
    socket.on("pong", () => void (state.isAlive = true));
    socket.on("message", (frame: Buffer, isBinary) => {
      state.isAlive = true;
      conversation.receive(isBinary ? "" : frame.toString("utf8"));
    });
    socket.on("close", () => {
      openSockets.delete(socket);
      unsent.forget(socket);
      push.sockets.sockets--;
      conversation.close();
    });
    socket.send(readyFrame(randomUUID()));
    // The socket may have been opened while the process began to close.
    if (isEnding) socket.close(closeReasons.restart.code, closeReasons.restart.reason);
  }

  function noteUnsent(socket: WebSocket): void {
    if (openSockets.has(socket)) terminateAll(unsent.note(socket, socket.bufferedAmount));
  }

  /** Terminates the sockets without a close frame, which would wait behind the unread bytes. */
  function terminateAll(sockets: readonly WebSocket[]): void {
    for (const socket of sockets) {
      push.sockets.closed++;
      socket.terminate();
    }
  }

  function beat(): void {
    for (const [socket, state] of openSockets) {
      if (!state.isAlive) {
        push.sockets.closed++;
        socket.terminate();
        continue;
      }
      state.isAlive = false;
      socket.ping();
    }
  }

  async function endSocketsOfChangedKeys(): Promise<void> {
    const texts = new Set([...openSockets.values()].flatMap(({ key }) => key?.text ?? []));
    for (const text of texts) {
      // A key that cannot be read is checked again in the next round.
      const identity = await apiKeys.find(text).catch(() => "unknown" as const);
      if (identity === "unknown") continue;
      for (const [socket, { key }] of openSockets)
        if (key?.text === text && !mayStay(key.identity, identity))
          socket.close(closeReasons.revoked.code, closeReasons.revoked.reason);
    }
  }

  const heartbeat = setInterval(beat, push.policy.heartbeatMs).unref();
  let isChecking = false;
  const keyCheck = setInterval(() => {
    terminateAll(unsent.findStalled());
    if (isChecking) return;
    isChecking = true;
    void endSocketsOfChangedKeys().finally(() => void (isChecking = false));
  }, KEY_CHECK_MS).unref();
  app.addHook("preClose", async () => {
    isEnding = true;
    clearInterval(heartbeat);
    clearInterval(keyCheck);
    for (const socket of openSockets.keys())
      socket.close(closeReasons.restart.code, closeReasons.restart.reason);
    const endsAtMs = performance.now() + CLOSE_WITHIN_MS;
    while (openSockets.size > 0 && performance.now() < endsAtMs) await sleep(10);
    for (const socket of openSockets.keys()) socket.terminate();
  });
}

/**
 * Whether a socket opened with this identity may stay open: its secret is still valid and the key unchanged.
 */
function mayStay(opened: ApiKeyIdentity, current: ApiKeyIdentity | undefined): boolean {
  if (current === undefined) return false;
  return (
    current.scopes.includes("read") === opened.scopes.includes("read") &&
    sameTexts(current.origins, opened.origins)
  );
}

function sameTexts(first: readonly string[], second: readonly string[]): boolean {
  return first.length === second.length && first.every((text) => second.includes(text));
}

/** The key in the URL, where socket clients send it, or in a header. */
function keyTextOf(request: IncomingMessage): string | undefined {
  const queryKey = new URL(request.url ?? "/", "http://host").searchParams.get("apiKey")?.trim();
  const headerKey = readSentKey(request);
  if (queryKey === undefined || queryKey === "") return headerKey;
  if (headerKey !== undefined && headerKey !== queryKey)
    throw new ServiceError(
      "UNAUTHORIZED",
      "The URL and the headers contain different API keys; send one of them",
    );
  return queryKey;
}

function isSocketRequest({ url = "", headers, method }: IncomingMessage): boolean {
  return (
    headers.upgrade?.toLowerCase() === "websocket" &&
    method === "GET" &&
    PATHS.has(url.split("?", 1)[0] ?? "")
  );
}

function remoteAddress(trust: TrustedProxies): (request: IncomingMessage) => string {
  const hops = trustedHops(trust);
  if (hops === false) return ({ socket }) => socket.remoteAddress ?? "";
  const trusted = typeof hops === "function" ? hops : proxyAddr.compile(hops);
  return (request) => proxyAddr(request, trusted);
}

function refuse(raw: Duplex, error: unknown): void {
  const { status, headers, body } = answerFor(error);
  const text = JSON.stringify(body);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "connection: close",
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(text)}`,
    ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
  ];
  // Otherwise the client could keep the refused socket open.
  raw.once("finish", () => raw.destroy());
  raw.end(`${lines.join("\r\n")}\r\n\r\n${text}`);
}
