import type { StatusPush } from "../../apps/api/src/push/status-push.port.ts";
import { connectionLimits } from "../../apps/api/src/push/connection-limits.ts";

/** Push services that know no request and report no event. `change` replaces parts. */
export function fakePush(change: Partial<StatusPush> = {}): StatusPush {
  const policy = {
    maxConnections: 1_000,
    maxPerAddress: 100,
    maxSubscriptions: 100,
    heartbeatMs: 60_000,
    trustProxy: false as const,
    ...change.policy,
  };
  return {
    follow: async () => undefined,
    followKey: () => () => undefined,
    connections: connectionLimits(policy),
    policy,
    sockets: { sockets: 0, streams: 0, subscriptions: 0, messages: 0, closed: 0 },
    ...change,
  };
}
