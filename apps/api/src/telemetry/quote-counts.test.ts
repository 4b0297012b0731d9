import { ServiceError } from "@causeway/domain";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { quoteCounts } from "./quote-counts.ts";

test("counts quotes by outcome and error code, and passes on the quote or its error", async () => {
  const registry = new Registry();
  const count = quoteCounts(registry);
  const refusal = new ServiceError("INSUFFICIENT_LIQUIDITY", "Insufficient liquidity");
  const defect = new TypeError("undefined is not a function");
  expect(await count(Promise.resolve("a quote"))).toBe("a quote");
  await expect(count(Promise.reject(refusal))).rejects.toBe(refusal);
  await expect(count(Promise.reject(defect))).rejects.toBe(defect);
  const text = await registry.metrics();
  expect(text).toContain('causeway_quotes_total{outcome="ok",code=""} 1');
  expect(text).toContain('causeway_quotes_total{outcome="refused",code="INSUFFICIENT_LIQUIDITY"} 1');
  expect(text).toContain('causeway_quotes_total{outcome="fault",code=""} 1');
});
