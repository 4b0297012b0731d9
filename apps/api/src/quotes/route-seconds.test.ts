import { expect, test } from "vitest";
import { routeSeconds } from "./route-seconds.ts";

const chains = [{ chain: { id: 1, blockTimeSeconds: 2 } }, { chain: { id: 2, blockTimeSeconds: 12 } }];

test("estimates an unmeasured route as the confirmations of the deposit and one block of the destination", () => {
  const seconds = routeSeconds(chains, () => undefined);
  expect(seconds(1, 2, 1)).toBe(2 + 12);
  expect(seconds(1, 2, 5)).toBe(5 * 2 + 12);
});

test("counts the block of a deposit that needs no confirmations", () => {
  expect(routeSeconds(chains, () => undefined)(1, 2, 0)).toBe(2 + 12);
});

test("uses the measured time of the route instead of the destination's block time, rounded up", () => {
  const measured = (origin: number, destination: number): number | undefined =>
    origin === 1 && destination === 2 ? 3_400 : undefined;
  const seconds = routeSeconds(chains, measured);
  expect(seconds(1, 2, 3)).toBe(10);
  expect(seconds(2, 1, 3)).toBe(3 * 12 + 2);
});
