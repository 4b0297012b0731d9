import { startSystem, type System } from "@causeway/localnet";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBooks } from "./feature-books.ts";
import { problemsOf } from "./feature-problems.ts";
import { runFeatureRequest, type FeatureOutcome } from "./feature-request.ts";
import { featureRows, rowName } from "./feature-rows.ts";
import { openFeatureWorld, type FeatureWorld } from "./feature-world.ts";
import { portBaseOf } from "./port-bases.ts";

// Features of routes from and to chains of all kinds. Each request has its own recipient and app, and all run
// concurrently. The test accounts for every unit that a user pays: a recipient or an app's balance received
// it, or the solver kept it, and the hub owes the solver every deposit. Local prices are fixed.

const DOLLARS = 40;

let system: System;
let outcomes: readonly (FeatureOutcome | Error)[] = [];
let differences: readonly string[] = [];

beforeAll(async () => {
  const users = assignUsers();
  system = await startSystem({
    env: {},
    portBase: portBaseOf("features"),
    oracles: 1,
    durable: false,
    users: Math.max(...users) + 1,
    families: true,
    mixedMining: true,
  });
  await system.sponsorship.funded;
  const world = await openFeatureWorld(system);
  const books = await openBooks(world);
  outcomes = await Promise.all(
    featureRows.map(async ({ from, to, features, isRefunded = false }, at) => {
      const places = { from: placeOf(world, from), to: placeOf(world, to) };
      const request = { ...places, features, isRefunded, user: users[at] ?? 0, dollars: DOLLARS };
      return await runFeatureRequest(world, request).catch((error: unknown) =>
        error instanceof Error ? error : new Error(String(error)),
      );
    }),
  );
  differences = await books.compare(
    outcomes.flatMap((outcome) => (outcome instanceof Error ? [] : [outcome])),
  );
}, 300_000);
afterAll(async () => await system.stop());

/** The index of the user of each row. Rows that pay from the same chain have different users. */
function assignUsers(): readonly number[] {
  return featureRows.map(
    ({ from }, at) => featureRows.slice(0, at).filter((row) => row.from === from).length,
  );
}

function placeOf({ places }: FeatureWorld, chain: string): FeatureWorld["places"][number] {
  const found = places.find((place) => place.chain === chain);
  if (found === undefined) throw new Error(`the system has no chain ${chain}`);
  return found;
}

for (const [at, row] of featureRows.entries())
  test(`${rowName(row)}: every party has exactly what was quoted`, () => {
    const outcome = outcomes[at];
    if (outcome === undefined || outcome instanceof Error) throw outcome ?? new Error("the row was not run");
    expect(problemsOf(outcome)).toEqual([]);
  });

test("the final balances of solver, depositories, apps, sponsor and hub match what the requests moved", () => {
  expect(differences).toEqual([]);
});
