import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { priceAgeGauge } from "./price-age-gauge.ts";

test("publishes the age of each price in seconds at the time of the scrape", async () => {
  const registry = new Registry();
  let ageMs = 1_500;
  priceAgeGauge(registry, {
    agesMs: () =>
      new Map([
        ["ethereum", ageMs],
        ["usd-coin", 0],
      ]),
  });
  expect(await registry.metrics()).toContain('causeway_price_age_seconds{price_id="ethereum"} 1.5');
  ageMs = 90_000;
  const text = await registry.metrics();
  expect(text).toContain('causeway_price_age_seconds{price_id="ethereum"} 90');
  expect(text).toContain('causeway_price_age_seconds{price_id="usd-coin"} 0');
});
