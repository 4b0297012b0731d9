/** Limits of bytes that are buffered because clients have not read them yet. */
export interface UnsentBounds {
  readonly perSocket: number;
  /** Maximum of all sockets of the process together. */
  readonly total: number;
  /** A client that reads nothing for this long while bytes are buffered counts as stalled. */
  readonly stalledMs: number;
}

/** Sums the buffered bytes of all sockets, and finds the sockets that must be closed. */
export interface UnsentBytes<Socket> {
  /**
   * Notes how many bytes a socket buffers. Call after each frame is buffered or sent. Returns the sockets to
   * close.
   */
  note(socket: Socket, bytes: number): readonly Socket[];
  forget(socket: Socket): void;
  /** Sockets whose clients have read nothing for `stalledMs`. */
  findStalled(): readonly Socket[];
}

/** @param nowMs monotonic clock */
export function unsentBytes<Socket>(bounds: UnsentBounds, nowMs: () => number): UnsentBytes<Socket> {
  const waiting = new Map<Socket, { bytes: number; tookAtMs: number }>();
  let sum = 0;

  function forget(socket: Socket): void {
    sum -= waiting.get(socket)?.bytes ?? 0;
    waiting.delete(socket);
  }

  function fullest(): Socket | undefined {
    let largest: { readonly socket: Socket; readonly bytes: number } | undefined;
    for (const [socket, { bytes }] of waiting)
      if (largest === undefined || bytes > largest.bytes) largest = { socket, bytes };
    return largest?.socket;
  }

  return {
    note(socket, bytes) {
      const before = waiting.get(socket);
      if (bytes === 0) {
        forget(socket);
        return [];
      }
      const tookAtMs = before === undefined || bytes < before.bytes ? nowMs() : before.tookAtMs;
      sum += bytes - (before?.bytes ?? 0);
      waiting.set(socket, { bytes, tookAtMs });
      if (bytes > bounds.perSocket) {
        forget(socket);
        return [socket];
      }
      const toClose: Socket[] = [];
      while (sum > bounds.total) {
        const largest = fullest();
        if (largest === undefined) break;
        forget(largest);
        toClose.push(largest);
      }
      return toClose;
    },
    forget,
    findStalled: () =>
      [...waiting].flatMap(([socket, { tookAtMs }]) =>
        nowMs() - tookAtMs >= bounds.stalledMs ? [socket] : [],
      ),
  };
}
