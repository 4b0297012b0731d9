import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import type { NonEvmConnection } from "./non-evm-connection.ts";

/** Milliseconds between two reads of each endpoint's head. */
const READ_HEADS_MS = 15_000;

/**
 * Reads the head of every endpoint at an interval, so that one that answers but stands still does not stay
 * the first. A single endpoint is not read.
 *
 * @returns a function that ends it
 */
export function followHeads(connections: readonly NonEvmConnection[], order: EndpointOrder): () => void {
  if (connections.length === 1) return () => undefined;
  const running = new Set<number>();
  let isStopped = false;
  const read = async (one: NonEvmConnection, place: number): Promise<void> => {
    if (one.head === undefined || running.has(place)) return;
    running.add(place);
    try {
      order.noteHead(place, await one.head());
    } catch (fault) {
      if (!isStopped) order.noteFault(place, fault);
    } finally {
      running.delete(place);
    }
  };
  const readAll = (): void => connections.forEach((one, place) => void read(one, place));
  readAll();
  // Polling must not keep the process alive.
  const timer = setInterval(readAll, READ_HEADS_MS).unref();
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}
