import { Gauge } from "prom-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createMetrics } from "./metrics.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("an unresponsive database delays no scrape: its metrics keep their last values", async () => {
  const { registry } = createMetrics("test");
  let read = async (): Promise<number> => await Promise.resolve(7);
  const gauge = new Gauge({
    name: "waiting_jobs",
    help: "Read from the database",
    registers: [registry],
    async collect(): Promise<void> {
      this.set(await read());
    },
  });
  expect(await registry.metrics()).toContain('waiting_jobs{service="test"} 7');

  const silent = Promise.withResolvers<number>();
  read = () => silent.promise;
  const scraped = registry.metrics();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await Promise.race([scraped, Promise.resolve("nothing")])).toContain("process_start_time_seconds");
  expect(await scraped).toContain('waiting_jobs{service="test"} 7');

  silent.resolve(9);
  await silent.promise;
  expect(await registry.metrics()).toContain('waiting_jobs{service="test"} 9');
  gauge.reset();
});
