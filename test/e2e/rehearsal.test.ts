import { createLocalClient, type RunningAnvil } from "@causeway/testkit";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { parseEther, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { portBaseOf } from "./port-bases.ts";
import { sendFrom, transfers, treasury } from "./rehearsal/money.ts";
import { startNetwork, type Network } from "./rehearsal/network.ts";
import { Operator } from "./rehearsal/operator.ts";
import { createUsers, type Bridge, type Users } from "./rehearsal/users.ts";

// Follows docs/OPERATIONS.md from the first deployment to an upgrade. The operator has chains, funded
// accounts, a key service, Postgres, Redis, the operator commands, and the programs of the images.

const portBase = portBaseOf("rehearsal");
const userKeys = Array.from({ length: 4 }, () => generatePrivateKey());
const usdc = (amount: string): bigint => parseUnits(amount, 6);

let network: Network;
let operator: Operator;
let users: Users;
/** The number of planned deployment transactions, by chain id. */
const planned = new Map<number, number>();
let isBroken = false;

beforeAll(async () => {
  network = await startNetwork();
  operator = await Operator.prepare(network, portBase);
  const shares = userKeys.flatMap((key) =>
    transfers(network, privateKeyToAddress(key), { eth: "10", usdc: usdc("1000") }),
  );
  const gas = transfers(network, operator.deployer, { eth: "2" });
  await Promise.all([
    sendFrom(treasury, network.ethereum, [...gas, ...shares]),
    sendFrom(treasury, network.base, gas),
    sendFrom(treasury, network.hub, gas),
  ]);
});
afterAll(async () => {
  await operator.stop();
  await network.stop();
});

/** Adds a test that is one step of the rehearsal. After a failed step, the remaining steps are skipped. */
function step(name: string, act: () => Promise<void>): void {
  test(name, async ({ skip }) => {
    if (isBroken) skip();
    isBroken = true;
    await act();
    isBroken = false;
  });
}

const sentByDeployer = async (chain: RunningAnvil): Promise<number> =>
  await createLocalClient(chain).getTransactionCount({ address: operator.deployer });

step("`deploy plan` prints every contract and sends nothing", async () => {
  const { code, errors, lines } = await operator.deploy("plan");
  expect([code, errors]).toEqual([0, ""]);
  const missing = lines.filter(({ state }) => state === "missing").map(({ contract }) => contract);
  const expectedContracts = [
    "Depository",
    "Router",
    "ApprovalProxy",
    "Receiver",
    "Multicall3",
    "Hub",
    "OracleMultisig",
  ];
  expect(missing).toEqual(expect.arrayContaining(expectedContracts));
  for (const { chainId, transactions } of lines) planned.set(Number(chainId), Number(transactions));
  for (const chain of [network.ethereum, network.base, network.hub]) {
    expect(planned.get(chain.chainId)).toBeGreaterThan(2);
    expect(await sentByDeployer(chain)).toBe(0);
  }
});

step(
  "`deploy apply`, killed twice and run again, deploys each contract once, and `verify` agrees",
  async () => {
    await operator.killDeployment(/"chain":"ethereum","step":"broadcast"/);
    await operator.killDeployment(/"chain":"base","step":"deployed"/);
    const { code, errors, lines } = await operator.deploy("apply");
    expect([code, errors]).toEqual([0, ""]);
    expect(lines.filter(({ step }) => step === "done")).toHaveLength(3);
    for (const chain of [network.ethereum, network.base, network.hub])
      // One more transaction funds the deterministic deployer.
      expect(await sentByDeployer(chain)).toBe((planned.get(chain.chainId) ?? 0) + 1);
    const verified = await operator.deploy("verify");
    expect([verified.code, [...new Set(verified.lines.map(({ state }) => state))]]).toEqual([
      0,
      ["asPlanned"],
    ]);
  },
);

step("three oracles and the service start in production mode, with keys in the key service", async () => {
  await Promise.all([operator.migrate(), operator.startOracles(), operator.fund()]);
  await operator.startService();
  const api = await readFile(`/proc/${operator.instance.pid("api-1")}/environ`, "utf8");
  expect(api).toContain("NODE_ENV=production");
  expect(api).not.toMatch(/PRIVATE_KEY=[^\0]|SIGNER=[^\0]|AWS_/);
});

step("`doctor` reports no problems", async () => {
  expect(await operator.doctor()).toEqual([]);
});

step("a bridge is quoted, filled, attested by a quorum and settled on the hub", async () => {
  const issued = await operator.run("keys", "create", "--label", "wallet", "--scopes", "quote,read");
  const apiKey = String(issued.lines[0]?.["key"]);
  users = await createUsers(network, { url: operator.apiUrl, apiKey, userKeys });
  const before = await operator.hubBalance(operator.solver);
  const bridge = await users.quote({ user: 0, amount: usdc("10") });
  await users.deposit(bridge);
  await users.expectPaid(bridge);
  await users.expectSettled(bridge);
  expect((await operator.hubBalance(operator.solver)) - before).toBe(usdc("10"));
});

step(
  "the solver's key is replaced without downtime: orders of the former key are filled and settled",
  async () => {
    const former = operator.solver;
    const before = await operator.hubBalance(former);
    const underWay = await users.quote({ user: 0, amount: usdc("20") });
    const unpaid = await users.quote({ user: 1, amount: usdc("30") });
    const solver = await operator.prepareSolver();
    await users.deposit(underWay);
    await operator.replaceSolver(solver);
    await users.deposit(unpaid);

    const address = solver.account.address.toLowerCase();
    expect(await users.solverOf(await users.quote({ user: 2, amount: usdc("40") }))).toBe(address);
    for (const bridge of [underWay, unpaid]) await users.expectPaid(bridge);
    const settled = [underWay, unpaid].map(async (bridge) => await users.expectSettled(bridge));
    const [doctorProblems] = await Promise.all([operator.doctor(), ...settled]);
    expect(doctorProblems).toEqual([]);
    expect(await users.payerOf(unpaid)).toBe(address);
    expect((await operator.hubBalance(former)) - before).toBe(usdc("50"));
    const { lines } = await operator.run("lanes");
    const lanes = lines.filter(({ sender }) => sender === former.account.address.toLowerCase());
    expect(lanes.length).toBeGreaterThan(0);
    expect(lanes.filter((lane) => lane["open"] !== 0 || (lane["mined_not_final"] ?? 0) !== 0)).toEqual([]);
  },
);

step("while everything is paused, quotes are refused and deposits wait or are refunded", async () => {
  const waiting = await users.quote({ user: 0, amount: usdc("5") });
  const expiring = await users.quote({ user: 1, amount: usdc("6"), ttl: 5 });
  const balanceBefore = await users.usdcOf(1);
  await operator.run("pause", "all", "--by", "ann", "--reason", "rehearsal");
  await expect
    .poll(async () => await users.tryQuote({ user: 2, amount: usdc("1") }), { interval: 300 })
    .toMatchObject({ errorCode: "SERVICE_UNAVAILABLE", errorData: { pausedScope: "all" } });
  await Promise.all([users.deposit(waiting), users.deposit(expiring)]);
  await users.expectStatus(waiting, { status: "pending", heldReason: expect.stringMatching(/paused/) });
  await users.expectStatus(expiring, { status: "refund" });
  // The user got back the deposit minus the gas.
  const cost = balanceBefore - (await users.usdcOf(1));
  expect(cost >= 0n && cost < usdc("1")).toBe(true);
  await operator.run("resume", "all");
  await users.expectPaid(waiting);
});

step("an upgrade restarts every process while users bridge: each is paid once and settled", async () => {
  const bridges: Bridge[] = [];
  const bridging = userKeys.map(async (_, user) => {
    for (let round = 0; round < 2; round++) {
      const bridge = await whileRestarting(
        async () => await users.quote({ user, amount: parseEther("0.01"), isNative: true }),
      );
      bridges.push(bridge);
      await users.deposit(bridge);
      await users.expectPaid(bridge);
    }
  });
  await Promise.all([...bridging, operator.upgrade()]);
  for (const bridge of bridges) {
    await users.expectSettled(bridge);
    // By now a second payment would have arrived.
    await users.expectPaid(bridge);
  }
});

/** Retries `act` while the API restarts. */
async function whileRestarting<T>(act: () => Promise<T>): Promise<T> {
  for (const endMs = Date.now() + 30_000; ;) {
    try {
      return await act();
    } catch (error) {
      if (Date.now() > endMs) throw error;
      await sleep(300);
    }
  }
}

step(
  "afterwards no funds are unattributed, nothing waits for settlement, and no log contains a secret",
  async () => {
    const reports = await Promise.all([operator.run("funds"), operator.run("settlement")]);
    expect(reports.map(({ errors }) => errors)).toEqual(["none\n", "none\n"]);
    const logs = await operator.instance.logs();
    expect(logs).toContain('"event":"listening"');
    expect(operator.secrets.filter((secret) => logs.includes(secret))).toEqual([]);
  },
);
