import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import type { NonEvmConnection } from "./non-evm-connection.ts";

/** Milliseconds between two reads of each endpoint's head. */
const HEAD_INTERVAL_MS = 15_000;

/**
 * Reads the head of every endpoint at an interval, so that an endpoint that answers but stands still does not
 * remain the lead. A single endpoint is not read.
 *
 * @returns a function that stops the reads
 */
export function followHeads(connections: readonly NonEvmConnection[], order: EndpointOrder): () => void {
  if (connections.length === 1) return () => undefined;
  const running = new Set<number>();
  let isStopped = false;
  const read = async (connection: NonEvmConnection, index: number): Promise<void> => {
    if (connection.head === undefined || running.has(index)) return;
    running.add(index);
    try {
      order.noteHead(index, await connection.head());
    } catch (fault) {
      if (!isStopped) order.noteFault(index, fault);
    } finally {
      running.delete(index);
    }
  };
  const readAll = (): void => connections.forEach((connection, index) => void read(connection, index));
  readAll();
  // Polling must not keep the process alive.
  const timer = setInterval(readAll, HEAD_INTERVAL_MS).unref();
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}
