import { Histogram, Registry } from "prom-client";
import { expect, test } from "vitest";
import { durations } from "./durations.ts";

const NAME = "call_seconds";
const HELP = "Time of a call";
const BOUNDS_MS = [0.5, 1, 250, 2_000];

const observed: readonly [method: string, outcome: string, tookMs: number][] = [
  ["read", "ok", 0],
  ["read", "ok", 0.5],
  ["read", "fault", 0.75],
  ["write", "ok", 250],
  ["read", "ok", 250.25],
  ["write", "ok", 9_000],
];

test("publishes the same values as the client library's own histogram", async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  for (const registry of [ours, theirs]) registry.setDefaultLabels({ service: "tested" });
  const library = new Histogram({
    name: NAME,
    help: HELP,
    labelNames: ["method", "outcome"],
    buckets: BOUNDS_MS.map((bound) => bound / 1_000),
    registers: [theirs],
  });
  const seriesOf = durations(ours, { name: NAME, help: HELP, boundsMs: BOUNDS_MS });
  const notes = new Map<string, ReturnType<typeof seriesOf>>();
  for (const [method, outcome, tookMs] of observed) {
    library.observe({ method, outcome }, tookMs / 1_000);
    const key = `${method} ${outcome}`;
    const note = notes.get(key) ?? seriesOf({ method, outcome });
    notes.set(key, note);
    note(tookMs);
  }
  // The order of a sample's labels does not matter.
  const lines = async (registry: Registry): Promise<string[]> =>
    (await registry.metrics())
      .split("\n")
      .map((line) =>
        line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(",").toSorted().join(",")}}`),
      );
  expect(await lines(ours)).toEqual(await lines(theirs));
});

test("publishes nothing that never happened", async () => {
  const registry = new Registry();
  durations(registry, { name: NAME, help: HELP, boundsMs: BOUNDS_MS });
  expect(await registry.metrics()).not.toContain(`${NAME}_count`);
});
