/** Bounds of bytes that clients have not taken off the line yet. */
export interface UnsentBounds {
  readonly perSocket: number;
  /** Of all sockets of the process. */
  readonly total: number;
  /** A client that took nothing for so long while bytes wait is not reading. */
  readonly stalledMs: number;
}

/** Adds up the bytes that wait on sockets, and says which socket must be ended for it. */
export interface UnsentBytes<Socket> {
  /**
   * To be told after each frame, and when one has left; `bytes` wait on the socket now. Returns the sockets
   * to end.
   */
  note(socket: Socket, bytes: number): readonly Socket[];
  forget(socket: Socket): void;
  /** Sockets that took nothing for too long. */
  stalled(): readonly Socket[];
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
    let most: { readonly socket: Socket; readonly bytes: number } | undefined;
    for (const [socket, { bytes }] of waiting)
      if (most === undefined || bytes > most.bytes) most = { socket, bytes };
    return most?.socket;
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
      const ended: Socket[] = [];
      while (sum > bounds.total) {
        const most = fullest();
        if (most === undefined) break;
        forget(most);
        ended.push(most);
      }
      return ended;
    },
    forget,
    stalled: () =>
      [...waiting].flatMap(([socket, { tookAtMs }]) =>
        nowMs() - tookAtMs >= bounds.stalledMs ? [socket] : [],
      ),
  };
}
