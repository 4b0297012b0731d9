import { WebSocket } from "ws";

/** Any message of the server. A test reads only the fields that it expects. */
export interface Frame {
  readonly type?: string;
  readonly status?: string;
  readonly event?: string;
  readonly errorCode?: string;
  readonly message?: string;
  readonly publishedAt?: number;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A client of the socket that keeps every frame it receives. */
export interface SocketClient {
  readonly socket: WebSocket;
  /** The frames so far, parsed and in order. */
  readonly frames: readonly Frame[];
  send(frame: object | string): void;
  subscribe(id?: string): void;
  /** Resolves with the frames once there are this many. */
  waitForFrames(count: number): Promise<readonly Frame[]>;
  /** Resolves with the close code when the socket is closed. */
  readonly closed: Promise<number>;
}

/** @throws an error that names the status if the server does not open the socket */
export async function socketClient(url: string, headers: Record<string, string> = {}): Promise<SocketClient> {
  const socket = new WebSocket(url, { headers });
  const frames: Frame[] = [];
  let arrived = Promise.withResolvers<void>();
  socket.on("message", (data: Buffer) => {
    frames.push(JSON.parse(data.toString("utf8")) as Frame);
    arrived.resolve();
    arrived = Promise.withResolvers();
  });
  const closed = new Promise<number>((resolve) => socket.once("close", (code) => resolve(code)));
  await new Promise<void>((resolve, reject) => {
    socket.once("open", () => resolve());
    socket.once("error", reject);
  });
  const send = (frame: object | string): void =>
    socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  return {
    socket,
    frames,
    send,
    subscribe: (id) =>
      send({
        type: "subscribe",
        event: "request.status.updated",
        ...(id === undefined ? {} : { filters: { id } }),
      }),
    async waitForFrames(count) {
      while (frames.length < count) await arrived.promise;
      return frames;
    },
    closed,
  };
}
