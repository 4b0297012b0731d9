import type { ConnectionLimits, PushPolicy } from "./status-push.port.ts";

/** Limits open connections, in total and per address. */
export function connectionLimits({
  maxConnections,
  maxPerAddress,
}: Pick<PushPolicy, "maxConnections" | "maxPerAddress">): ConnectionLimits {
  const openByAddress = new Map<string, number>();
  let total = 0;
  return {
    take(address) {
      const ofAddress = openByAddress.get(address) ?? 0;
      if (total >= maxConnections || ofAddress >= maxPerAddress) return undefined;
      openByAddress.set(address, ofAddress + 1);
      total++;
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        total--;
        const remaining = (openByAddress.get(address) ?? 1) - 1;
        if (remaining === 0) openByAddress.delete(address);
        else openByAddress.set(address, remaining);
      };
    },
  };
}
