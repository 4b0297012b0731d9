import { afterAll, beforeAll } from "vitest";
import { appBalanceRouteServices } from "../../../apps/api/src/balances/balances.wiring.ts";
import { emptyAppBalanceContract } from "../../contracts/app-balance-routes.ts";
import { fakeAppBalance } from "../../fakes/app-balance.ts";
import { startEngineWorld, type EngineWorld } from "../../support/engine-world.ts";

let world: EngineWorld;
beforeAll(async () => {
  world = await startEngineWorld();
});
afterAll(async () => await world.stop());

emptyAppBalanceContract("app balance of a test", async () => fakeAppBalance());
emptyAppBalanceContract("app balance of the API", async () => appBalanceRouteServices(world.services));
