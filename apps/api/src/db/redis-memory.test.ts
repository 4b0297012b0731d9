import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { recordedEvents } from "../../../../test/fakes/recorded-events.ts";
import { redisMemoryOf, watchRedisMemory } from "./redis-memory.ts";

const INFO =
  "# Memory\r\nused_memory:70\r\nused_memory_human:70B\r\nmaxmemory:100\r\nmaxmemory_policy:noeviction\r\n";

test("reads memory in use and its limit", () => {
  expect(redisMemoryOf(INFO)).toEqual({ usedBytes: 70, maxBytes: 100 });
});

test("raises one alarm each time memory rises to 70 % of the limit, and none without a limit", async () => {
  const [registry, events] = [new Registry(), recordedEvents()];
  let memory = { usedBytes: 69, maxBytes: 100 };
  const watch = watchRedisMemory(registry, async () => await Promise.resolve(memory), events);
  for (const usedBytes of [69, 70, 95, 40, 71]) {
    memory = { usedBytes, maxBytes: 100 };
    await watch.refresh();
  }
  expect(events.of("redis_memory_high").map(({ facts }) => facts["usedBytes"])).toEqual([70, 71]);
  expect(await registry.metrics()).toContain('causeway_redis_memory_bytes{kind="used"} 71');
  memory = { usedBytes: 1_000, maxBytes: 0 };
  await watch.refresh();
  expect(events.of("redis_memory_high")).toHaveLength(2);
});
