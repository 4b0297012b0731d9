import { expect, test } from "vitest";
import type { StatusPush } from "../../apps/api/src/push/status-push.port.ts";

/** What every push service must guarantee while no request changes. */
export function idlePushContract(name: string, make: () => Promise<StatusPush>): void {
  const follower = () => {
    const calls: string[] = [];
    return { calls, updated: () => void calls.push("updated"), lost: () => void calls.push("lost") };
  };

  test(`${name}: a request that does not exist cannot be followed`, async () => {
    const push = await make();
    const listener = follower();
    expect(await push.follow(`0x${"00".repeat(32)}` as const, listener)).toBeUndefined();
    expect(listener.calls).toEqual([]);
  });

  test(`${name}: a subscriber of a key gets no events until something happens, and may unsubscribe twice`, async () => {
    const push = await make();
    const quiet = follower();
    const stop = push.followKey("0011223344556677", quiet);
    stop();
    stop();
    expect(quiet.calls).toEqual([]);
  });

  test(`${name}: an address may hold as many connections as the policy allows, and may open another one after it releases one`, async () => {
    const { connections, policy } = await make();
    const releases = Array.from({ length: policy.maxPerAddress }, () => connections.take("192.0.2.7"));
    expect(releases.every((release) => release !== undefined)).toBe(true);
    expect(connections.take("192.0.2.7")).toBeUndefined();
    releases[0]?.();
    const again = connections.take("192.0.2.7");
    expect(again).toBeDefined();
    again?.();
    for (const release of releases.slice(1)) release?.();
  });
}
