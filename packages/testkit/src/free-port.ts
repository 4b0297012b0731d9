import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { ProcessStartFailed } from "./process.ts";

/**
 * Below the ports of whole systems (`portBase`) and those that the kernel picks for outgoing connections,
 * above the usual fixed ones.
 */
const range = { from: 10_000, to: 18_000 };

/**
 * Ports of one process: processes that run side by side seldom share a slice, and then begin at different
 * places in it.
 */
const sliceSize = 200;

const slices = (range.to - range.from) / sliceSize;

const firstOfSlice = range.from + (process.pid % slices) * sliceSize;

let given = randomInt(sliceSize);

/** How programs say it: Node.js, our processes, nodes in Rust, Postgres and Redis. */
const TAKEN = /EADDRINUSE|address (?:already )?in use|is used by another process/i;

/** Something already listens on a port that was asked for. */
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
 * A TCP port on 127.0.0.1 that nothing listens on right now; the next call gives another one, though nothing
 * listens on the first one yet.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < sliceSize; attempt++) {
    const port = firstOfSlice + (given++ % sliceSize);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`no free port found in ${sliceSize} attempts from ${firstOfSlice}`);
}

/** Whether a listener on 127.0.0.1:`port` could be opened now. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Runs what listens on `port`, which was free before.
 * @throws PortInUse when it failed because something else has taken the port meanwhile, e.g. an outgoing
 * connection
 */
export async function onlyOn<T>(port: number, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    // What had it may be gone again.
    const says = error instanceof ProcessStartFailed && TAKEN.test(error.logTail);
    if (says || !(await isPortFree(port))) throw new PortInUse(port, { cause: error });
    throw error;
  }
}

/**
 * Runs `start` on the wanted port, or on a free one.
 *
 * Between finding a port free and the child binding it another process may take it, so with a port of our own
 * choice a failed start is tried again on another one.
 *
 * @throws PortInUse when the wanted port is taken, also when that happens during the start.
 */
export async function onPort<T>(wanted: number | undefined, start: (port: number) => Promise<T>): Promise<T> {
  if (wanted !== undefined) {
    if (!(await isPortFree(wanted))) throw new PortInUse(wanted);
    return await onlyOn(wanted, async () => await start(wanted));
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
