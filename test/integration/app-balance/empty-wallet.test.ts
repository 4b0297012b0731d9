import { afterAll, beforeAll } from "vitest";
import {
  readBalanceEvents,
  readBalances,
  readClaims,
  readHolds,
} from "../../../apps/api/src/balances/read-balances.ts";
import { emptyAppBalanceContract } from "../../contracts/app-balance-routes.ts";
import { fakeAppBalance } from "../../fakes/app-balance.ts";
import { startEngineWorld, type EngineWorld } from "../../support/engine-world.ts";

let world: EngineWorld;
beforeAll(async () => {
  world = await startEngineWorld();
});
afterAll(async () => await world.stop());

emptyAppBalanceContract("app balance of a test", async () => fakeAppBalance());
emptyAppBalanceContract("app balance of the API", async () => ({
  readBalances: async (wallet) => await readBalances(world.services, wallet),
  readBalanceEvents: async (wallet, page) => await readBalanceEvents(world.services, wallet, page),
  readHolds: async (wallet, page) => await readHolds(world.services, wallet, page),
  readClaims: async (wallet, page) => await readClaims(world.services, wallet, page),
}));
