import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { ProcessStartFailed } from "./process.ts";

/**
 * Below the ports of whole systems (`portBase`) and those that the kernel picks for outgoing connections,
 * above the usual fixed ones.
 */
const range = { from: 10_000, to: 18_000 };

/**
 * Ports per process. Concurrent processes rarely share a slice, and those that do start at different places
 * in it.
 */
const sliceSize = 200;

const slices = (range.to - range.from) / sliceSize;

const firstOfSlice = range.from + (process.pid % slices) * sliceSize;

let nextOffset = randomInt(sliceSize);

/** Messages of Node.js, our processes, nodes in Rust, Postgres and Redis for a port that is in use. */
const PORT_IN_USE_MESSAGE = /EADDRINUSE|address (?:already )?in use|in use by another process/i;

/** Another process already listens on the requested port. */
export class PortInUse extends Error {
  override readonly name = "PortInUse";
  readonly code = "PORT_IN_USE";
  readonly port: number;

  constructor(port: number, options?: ErrorOptions) {
    super(`port ${port} on 127.0.0.1 is already in use`, options);
    this.port = port;
  }
}

/**
 * Returns a TCP port on 127.0.0.1 on which nothing listens now. The next call returns another port, even if
 * nothing listens on the first one yet.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < sliceSize; attempt++) {
    const port = firstOfSlice + (nextOffset++ % sliceSize);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`no free port found in ${sliceSize} attempts from ${firstOfSlice}`);
}

/** Whether a process can listen on 127.0.0.1:`port` now. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Starts a server on `port`, which was free before.
 * @throws PortInUse if the start failed because another process has taken the port in the meantime, for
 * example an outgoing connection
 */
export async function startOn<T>(port: number, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    // The other process may have released the port again.
    const isReported = error instanceof ProcessStartFailed && PORT_IN_USE_MESSAGE.test(error.logTail);
    if (isReported || !(await isPortFree(port))) throw new PortInUse(port, { cause: error });
    throw error;
  }
}

/**
 * Runs `start` on the requested port, or on a free one.
 *
 * Another process may take a free port before the child listens on it. Without a requested port, a failed
 * start is therefore retried on another port.
 *
 * @throws PortInUse if the requested port is in use, even if it was taken during the start
 */
export async function onPort<T>(
  requestedPort: number | undefined,
  start: (port: number) => Promise<T>,
): Promise<T> {
  if (requestedPort !== undefined) {
    if (!(await isPortFree(requestedPort))) throw new PortInUse(requestedPort);
    return await startOn(requestedPort, async () => await start(requestedPort));
  }
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return await start(port);
    } catch (error) {
      if (attempt === 3 || (await isPortFree(port))) throw error;
    }
  }
}
