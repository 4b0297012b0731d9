import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Events } from "./events.port.ts";

/**
 * Percent of its limit above which Redis is about to refuse writes, as `noeviction` requires: then no job is
 * queued or completed on any chain.
 */
const HIGH_PERCENT = 70;

export interface RedisMemory {
  readonly usedBytes: number;
  /** 0: no limit is set. */
  readonly maxBytes: number;
}

/** Reads the answer of `INFO memory`. */
export function redisMemoryOf(info: string): RedisMemory {
  const number = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0);
  return { usedBytes: number("used_memory"), maxBytes: number("maxmemory") };
}

/** Publishes the memory that Redis uses, and raises an alarm each time it rises above 70 % of its limit. */
export function watchRedisMemory(
  registry: Registry,
  read: () => Promise<RedisMemory>,
  events: Pick<Events, "alarm" | "fault">,
): { refresh(): Promise<void> } {
  const gauge = new Gauge({
    name: "causeway_redis_memory_bytes",
    help: "Redis memory: used, and its limit (0: no limit)",
    labelNames: ["kind"],
    registers: [registry],
  });
  let isHigh = false;
  return {
    async refresh() {
      try {
        const { usedBytes, maxBytes } = await read();
        gauge.set({ kind: "used" }, usedBytes);
        gauge.set({ kind: "limit" }, maxBytes);
        const wasHigh = isHigh;
        isHigh = maxBytes > 0 && usedBytes * 100 >= maxBytes * HIGH_PERCENT;
        if (isHigh && !wasHigh) events.alarm("redis_memory_high", { usedBytes, maxBytes });
      } catch (error) {
        events.fault("relay_fault", error, { part: "memory" });
      }
    },
  };
}
