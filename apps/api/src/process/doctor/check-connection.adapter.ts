import { connect, type NetConnectOpts } from "node:net";

const TIMEOUT_MS = 5_000;

/** The host and port, or the socket, that a connection is opened to. */
export type ConnectTarget = NetConnectOpts & { readonly timeout?: never };

/** Host and port of an HTTP URL. */
export function connectTargetOf(url: string): ConnectTarget {
  const { hostname, port, protocol } = new URL(url);
  const fallback = protocol === "https:" ? 443 : 80;
  return { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? fallback : Number(port) };
}

/**
 * Opens a connection and closes it, without sending anything.
 * @throws the error of the socket, or an Error that names the time limit
 */
export async function checkConnection(target: ConnectTarget): Promise<true> {
  const socket = connect(target);
  const { promise, resolve, reject } = Promise.withResolvers<true>();
  socket.setTimeout(TIMEOUT_MS, () => reject(new Error(`no connection within ${TIMEOUT_MS} ms`)));
  socket.once("connect", () => resolve(true));
  socket.once("error", reject);
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
