import type { ConnectionPlaces, PushPolicy } from "./status-push.port.ts";

/** Limits open connections, in total and per address. */
export function connectionPlaces({
  maxConnections,
  maxPerAddress,
}: Pick<PushPolicy, "maxConnections" | "maxPerAddress">): ConnectionPlaces {
  const taken = new Map<string, number>();
  let all = 0;
  return {
    take(address) {
      const ofAddress = taken.get(address) ?? 0;
      if (all >= maxConnections || ofAddress >= maxPerAddress) return undefined;
      taken.set(address, ofAddress + 1);
      all++;
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        all--;
        const left = (taken.get(address) ?? 1) - 1;
        if (left === 0) taken.delete(address);
        else taken.set(address, left);
      };
    },
  };
}
