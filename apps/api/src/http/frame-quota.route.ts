/** Maximum frames of all sockets of one address per window. Several clients may share an address. */
const FRAMES = { perAddress: 2_000, windowMs: 10_000 };
/** Number of remembered addresses above which addresses of past windows are dropped. */
const MAX_ADDRESSES = 10_000;

/** Counts the frames of an address over all its sockets: each may cost a read. */
export interface FrameQuota {
  /** False when the address has sent too many in this window. */
  take(address: string, nowMs: number): boolean;
}

export function frameQuota(): FrameQuota {
  const windows = new Map<string, { count: number; sinceMs: number }>();
  const isOver = ({ sinceMs }: { readonly sinceMs: number }, nowMs: number): boolean =>
    nowMs - sinceMs > FRAMES.windowMs;
  return {
    take(address, nowMs) {
      let window = windows.get(address);
      if (window === undefined || isOver(window, nowMs)) {
        if (windows.size >= MAX_ADDRESSES)
          for (const [key, old] of windows) if (isOver(old, nowMs)) windows.delete(key);
        window = { count: 0, sinceMs: nowMs };
        windows.set(address, window);
      }
      return ++window.count <= FRAMES.perAddress;
    },
  };
}
