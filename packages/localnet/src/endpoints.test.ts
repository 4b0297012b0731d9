import { rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { describeEndpoints, readEndpoints, removeEndpoints, writeEndpoints } from "./endpoints.ts";
import { freePort, newTempDir } from "@causeway/testkit";
import { nodeEnvironment, readLocalChains } from "./local-chains.ts";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

function createFolder(): string {
  const folder = newTempDir("endpoints-test");
  opened.push(async () => await rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The endpoints of a system at this port base. Its API listens until it is stopped. */
async function startFakeSystem(portBase: number) {
  const port = await freePort();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const stop = async (): Promise<void> => {
    await new Promise<unknown>((resolve) => server.close(resolve));
  };
  opened.push(stop);
  const apiUrls = [`http://127.0.0.1:${port}`];
  return {
    stop,
    endpoints: describeEndpoints({ portBase, apiUrls, chains: [], oracles: [], apiKeys: [], accounts: [] }),
  };
}

test("the common file describes the newest running system", async () => {
  const folder = createFolder();
  const common = async (): Promise<number | undefined> =>
    (await readEndpoints(join(folder, "endpoints.json")))?.portBase;
  const [killed, first, second] = [
    await startFakeSystem(20_000),
    await startFakeSystem(20_100),
    await startFakeSystem(20_200),
  ];
  for (const { endpoints } of [first, killed, second]) await writeEndpoints(endpoints, {}, folder);
  await killed.stop();
  expect(await common()).toBe(20_200);

  await removeEndpoints(second.endpoints, folder);
  expect(await common(), "ignores the killed system's file").toBe(20_100);
  await removeEndpoints(first.endpoints, folder);
  expect(await common()).toBeUndefined();
});

test("stopping an older system leaves the common file unchanged", async () => {
  const folder = createFolder();
  const [first, second] = [await startFakeSystem(20_000), await startFakeSystem(20_100)];
  for (const { endpoints } of [first, second]) await writeEndpoints(endpoints, {}, folder);
  await removeEndpoints(first.endpoints, folder);
  expect((await readEndpoints(join(folder, "endpoints.json")))?.portBase).toBe(20_100);
});

test("only the owner can read the operator's variables, and they are removed with the system", async () => {
  const folder = createFolder();
  const { endpoints } = await startFakeSystem(20_000);
  await writeEndpoints(endpoints, { DATABASE_URL: "postgres://user:hunter2@127.0.0.1/x" }, folder);
  const file = join(folder, "20000", "environment.json");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await removeEndpoints(endpoints, folder);
  await expect(stat(file)).rejects.toThrow("ENOENT");
});

test("lists the swap contracts and every token", () => {
  const chains = readLocalChains(nodeEnvironment({ portA: 1, portB: 2 }));
  const described = describeEndpoints({
    portBase: 20_000,
    apiUrls: [],
    chains,
    oracles: [],
    apiKeys: [],
    accounts: [],
  });
  for (const { contracts, tokens } of described.chains) {
    expect(Object.keys(contracts)).toEqual(
      expect.arrayContaining([
        "weth9",
        "uniswapV3Factory",
        "swapRouter",
        "quoterV2",
        "uniswapV2Factory",
        "uniswapV2Router",
        "permit2",
        "depositAddressFactory",
      ]),
    );
    expect(tokens.map(({ symbol }) => symbol)).toEqual(["USDC", "TST", "WETH", "ODD"]);
    expect(tokens.find(({ symbol }) => symbol === "WETH")?.address).toBe(contracts["weth9"]?.toLowerCase());
  }
});
