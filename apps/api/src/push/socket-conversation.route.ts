import type { RequestId } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { SocketRequest } from "@causeway/wire";
import { socketRequest } from "@causeway/wire";
import type { ApiKeyIdentity } from "../http/api-keys.port.ts";
import type { Clock } from "../db/clock.port.ts";
import type { StatusPush, StatusFollower } from "./status-push.port.ts";
import type { StopListening } from "../requests/status-feed.port.ts";
import { requireSecretKey } from "../http/access.route.ts";
import { doneFrame, errorFrame, eventFrame } from "./socket-frames.ts";
import { parseHash } from "../http/wire-values.ts";
import { requestNotFound } from "../http/refusals.ts";

/** Maximum number of frames from a client per window: far more than all its possible subscriptions. */
const FRAMES = { max: 500, windowMs: 10_000 };
/** Maximum requests for the same subscription per window: each is answered with a frame of about 1 kB. */
const MAX_SAME_SUBSCRIPTIONS = 10;
/** The subscription to all requests of the key. */
const ALL = "all";

/** The service's reasons for closing a socket, with the codes of the protocol. */
export const closeReasons = {
  restart: { code: 1012, reason: "service restart" },
  lost: { code: 1011, reason: "events may be missing; reconnect" },
  tooMuch: { code: 1008, reason: "too many frames" },
  unknownRequest: { code: 1008, reason: "request not found" },
  revoked: { code: 1008, reason: "API key is no longer valid" },
} as const;
export type CloseReason = (typeof closeReasons)[keyof typeof closeReasons];

/** The client's end of a socket. */
export interface Peer {
  /** Counts a frame from the peer's address. False: the address has sent too many frames. */
  takeFrame(): boolean;
  send(frame: string): void;
  close(reason: CloseReason): void;
}

/** The conversation on one open socket. */
export interface Conversation {
  /** Handles a frame from the client. */
  receive(text: string): void;
  /** Ends all subscriptions, because the socket is closed. */
  close(): void;
}

type Services = Pick<StatusPush, "follow" | "followKey" | "policy" | "sockets"> & { readonly clock: Clock };

/**
 * Answers the frames of one socket. A subscribed client does not poll, so it gets every event or its socket
 * is closed.
 */
export function converse(services: Services, peer: Peer, key: ApiKeyIdentity | undefined): Conversation {
  const { policy, sockets, clock } = services;
  /** Open subscriptions. `stop` is undefined until the look-up has finished. */
  const subscriptions = new Map<string, { stop?: StopListening; isEnded: boolean }>();
  // On the monotonic clock: if a wall clock were set back, the window would not end.
  const frames = { count: 0, sinceMs: performance.now() };

  /** How often each subscription was requested in this window. */
  const requestCounts = new Map<string, number>();

  function receive(text: string): void {
    const nowMs = performance.now();
    if (nowMs - frames.sinceMs > FRAMES.windowMs) {
      Object.assign(frames, { count: 0, sinceMs: nowMs });
      requestCounts.clear();
    }
    if (++frames.count > FRAMES.max || !peer.takeFrame()) return peer.close(closeReasons.tooMuch);
    const frame = readFrame(text);
    if (typeof frame === "string") return peer.send(errorFrame("INVALID_REQUEST", frame));
    const id = frame.filters?.id;
    const requestId = id === undefined ? undefined : parseHash(id);
    if (frame.type === "unsubscribe") {
      end(requestId ?? ALL);
      return peer.send(doneFrame("unsubscribe", requestId));
    }
    try {
      subscribe(requestId);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      peer.send(errorFrame(error.code, error.message));
    }
  }

  function subscribe(requestId: RequestId | undefined): void {
    const name = requestId ?? ALL;
    const count = (requestCounts.get(name) ?? 0) + 1;
    requestCounts.set(name, count);
    if (count > MAX_SAME_SUBSCRIPTIONS)
      throw new ServiceError(
        "RATE_LIMITED",
        `The same subscription may be sent at most ${MAX_SAME_SUBSCRIPTIONS} times in ${FRAMES.windowMs / 1000} s`,
      );
    end(name);
    if (subscriptions.size >= policy.maxSubscriptions)
      throw new ServiceError(
        "RATE_LIMITED",
        `A socket may have at most ${policy.maxSubscriptions} subscriptions; unsubscribe or open another`,
      );
    if (requestId === undefined) return subscribeToAll();
    const subscription: { stop?: StopListening; isEnded: boolean } = { isEnded: false };
    add(name, subscription);
    let isAnswered = false;
    const follower: StatusFollower = {
      updated: (update) => {
        if (subscription.isEnded) return;
        if (!isAnswered) peer.send(doneFrame("subscribe", requestId));
        // The same update again would be a duplicate event.
        else if (update.onlyFinal) return;
        isAnswered = true;
        sockets.messages++;
        peer.send(eventFrame(update, clock.nowMs()));
      },
      lost: () => {
        if (!subscription.isEnded) peer.close(closeReasons.lost);
      },
    };
    services.follow(requestId, follower).then(
      (stop) => {
        if (subscription.isEnded) return stop?.();
        if (stop !== undefined) {
          subscription.stop = stop;
          return undefined;
        }
        end(name);
        peer.send(errorFrame("REQUEST_NOT_FOUND", requestNotFound(requestId).message));
        // A client without any other subscription would wait forever.
        if (subscriptions.size === 0) peer.close(closeReasons.unknownRequest);
        return undefined;
      },
      () => peer.close(closeReasons.lost),
    );
  }

  function subscribeToAll(): void {
    const { id } = requireSecretKey({ apiKey: key }, "read", "subscribe without filters.id");
    const subscription: { stop?: StopListening; isEnded: boolean } = { isEnded: false };
    peer.send(doneFrame("subscribe", undefined));
    subscription.stop = services.followKey(id, {
      updated: (update) => {
        if (update.onlyFinal) return;
        sockets.messages++;
        peer.send(eventFrame(update, clock.nowMs()));
      },
      lost: () => peer.close(closeReasons.lost),
    });
    add(ALL, subscription);
  }

  function add(name: string, subscription: { stop?: StopListening; isEnded: boolean }): void {
    subscriptions.set(name, subscription);
    sockets.subscriptions++;
  }

  function end(name: string): void {
    const subscription = subscriptions.get(name);
    if (subscription === undefined) return;
    subscription.isEnded = true;
    subscription.stop?.();
    subscriptions.delete(name);
    sockets.subscriptions--;
  }

  return {
    receive,
    close() {
      for (const name of subscriptions.keys()) end(name);
    },
  };
}

/** The request in a frame; a string describes what is wrong with the frame. */
function readFrame(text: string): SocketRequest | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return "frame must be JSON text";
  }
  const { success, data, error } = socketRequest.safeParse(json);
  if (success) return data;
  return error.issues.map(({ path, message }) => `${path.join(".") || "frame"} ${message}`).join("; ");
}
