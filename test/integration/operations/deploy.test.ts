import { allocatorAbi, depositoryAbi, oracleMultisigAbi } from "@causeway/contracts";
import {
  deterministicDeployer,
  deterministicDeployerCode,
  planChain,
  planHub,
  plannedAddress,
} from "@causeway/contracts/deploy";
import { deployHub, localAccount, localAccounts, localHub } from "@causeway/localnet";
import {
  createLocalClient,
  repositoryRoot,
  startAnvil,
  type LocalClient,
  type RunningAnvil,
} from "@causeway/testkit";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeFunctionData, getAddress, type Address, type Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from "vitest";
import { startFaultyRpc } from "../../support/faulty-rpc.ts";
import { runDeployCommand, runDeployKilled } from "../../support/run-deploy.ts";

// The operator's command on a node. Tests that kill the command run it in a separate process.

const key = (byte: string): Hex => `0x${byte.repeat(32)}`;
const address = (byte: string): Address => getAddress(`0x${byte.repeat(20)}`);

/** A contract that acts as a multisig wallet. */
const OWNER = address("0a");
const [ALLOCATOR, SOLVER, OPERATOR] = [address("0b"), address("0c"), address("0d")];
const STRANGER = address("0e");
const ORACLES = [address("01"), address("02"), address("03")];
const OPTIONS = `--owner ${OWNER} --allocator ${ALLOCATOR} --solver ${SOLVER} --deposit-address-operator ${OPERATOR} --chain mine`;
const HUB = `--owner ${OWNER} --allocator ${ALLOCATOR} --hub ${ORACLES.map((oracle) => `--oracle ${oracle}`).join(" ")} --threshold 2`;
const QUICK = "--confirmations 1 --wait 20";

const plan = planChain({
  owner: OWNER,
  allocator: ALLOCATOR,
  solver: SOLVER,
  depositAddressOperator: OPERATOR,
  multicall3: false,
});
const hubPlan = planHub({
  owner: OWNER,
  allocator: ALLOCATOR,
  oracles: ORACLES,
  threshold: 2,
  domain: { name: "Oracle", version: "1" },
});

let node: RunningAnvil;
let client: LocalClient;
let folder: string;
let keys = 0;

beforeAll(async () => {
  node = await startAnvil({ chainId: 4321 });
  client = createLocalClient(node);
  folder = await mkdtemp(join(tmpdir(), "causeway-deploy-"));
  await client.setCode({ address: OWNER, bytecode: "0x00" });
  const contracts = {
    router: "$MINE_ROUTER_ADDRESS",
    approvalProxy: "$MINE_APPROVAL_PROXY_ADDRESS",
    serviceReceiver: "$MINE_RECEIVER_ADDRESS",
    multicall3: "0xcA11bde05977b3631167028862bE2a173976CA11",
  };
  const chains = [
    { id: "other", chainId: 1, vmType: "ethereum-vm", httpRpcUrl: "$OTHER_RPC_URL" },
    {
      id: "mine",
      chainId: 4321,
      vmType: "ethereum-vm",
      httpRpcUrl: "$MINE_RPC_URL",
      native: { symbol: "MINE" },
      depository: "$MINE_DEPOSITORY_ADDRESS",
      contracts,
    },
    {
      id: "two-endpoints",
      chainId: 4321,
      vmType: "ethereum-vm",
      httpRpcUrl: ["$MINE_RPC_URL", "$EMPTY_RPC_URL"],
      contracts: { multicall3: contracts.multicall3 },
    },
  ];
  const hub = [{ id: "hub", vmType: "hub-vm", chainId: "$HUB_CHAIN_ID", httpRpcUrl: "$MINE_RPC_URL" }];
  await writeFile(join(folder, "chains.test.json"), JSON.stringify(chains));
  await writeFile(join(folder, "chains.hub.test.json"), JSON.stringify(hub));
});
afterEach(() => void vi.restoreAllMocks());
afterAll(async () => {
  await node.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs `act`, and then undoes its changes to the chain and to the files. */
async function undoAfter(act: () => Promise<void>): Promise<void> {
  const id = await client.snapshot();
  const files = ["chains.test.json", "chains.hub.test.json"].map((name) => join(folder, name));
  const contents = await Promise.all(files.map((file) => readFile(file)));
  try {
    await act();
  } finally {
    await client.revert({ id });
    await client.setAutomine(true);
    await Promise.all(files.map((file, index) => writeFile(file, contents[index] ?? "")));
  }
}

/** The environment and the account of a new deployer that has never sent a transaction. */
async function newDeployer(): Promise<{ readonly env: Record<string, string>; readonly account: Address }> {
  keys += 1;
  const privateKey = key((0x30 + keys).toString(16));
  const account = privateKeyToAddress(privateKey);
  await client.setBalance({ address: account, value: 10n ** 20n });
  const env = {
    ENVIRONMENT: "test",
    CONFIGS_DIR: folder,
    VAULT_SECRETS_DIR: "/nonexistent",
    DEPLOYER_PRIVATE_KEY: privateKey,
    MINE_RPC_URL: node.url,
    HUB_CHAIN_ID: "4321",
  };
  return { env, account };
}

const run = runDeployCommand;
const runKilled = async (words: string, env: Record<string, string>, step: string, count: number) =>
  await runDeployKilled(words, env, `"step":"${step}"`, count);

const sentBy = async (account: Address): Promise<number> =>
  await client.getTransactionCount({ address: account });

test("plan prints addresses, arguments, owners, roles and costs, and sends nothing", async () => {
  const { env, account } = await newDeployer();
  const block = await client.getBlockNumber({ cacheTime: 0 });
  const { code, lines, errors } = await run(`plan ${OPTIONS}`, env);
  expect([code, errors]).toEqual([0, ""]);
  expect(lines.find(({ contract }) => contract === "Depository")).toMatchObject({
    chain: "mine",
    address: plannedAddress(plan, "Depository"),
    state: "missing",
    constructorArguments: { owner: OWNER, allocator: ALLOCATOR },
    owner: OWNER,
    roles: { "signs payouts": ALLOCATOR },
    cost: expect.stringMatching(/^0\.\d+ MINE$/),
  });
  expect(lines.at(-1)).toMatchObject({ transactions: 5, deployerBalance: "100 MINE" });
  expect(await sentBy(account)).toBe(0);
  expect(await client.getBlockNumber({ cacheTime: 0 })).toBe(block);
});

test("refuses before anything is sent: an owner without code, insufficient funds, gas above the limit", async () => {
  const { env, account } = await newDeployer();
  const wrongOwner = OPTIONS.replace(OWNER, STRANGER);
  const refused = await run(`apply ${wrongOwner} ${QUICK}`, env);
  expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining("add --owner-is-account")]);
  expect((await run(`plan ${wrongOwner} --owner-is-account`, env)).code).toBe(0);

  const expensive = await run(`apply ${OPTIONS} ${QUICK} --max-fee-gwei 0.000001`, env);
  expect([expensive.code, expensive.errors]).toEqual([
    1,
    expect.stringContaining("more than --max-fee-gwei 0.000001"),
  ]);

  await client.setBalance({ address: account, value: 10n ** 9n });
  const unfunded = await run(`apply ${OPTIONS} ${QUICK}`, env);
  expect([unfunded.code, unfunded.errors]).toEqual([
    1,
    expect.stringContaining("the deployer has 0.000000001 MINE"),
  ]);

  const unwritable = await run(`apply ${OPTIONS} ${QUICK} --write ${join(folder, "none")}`, env);
  expect([unwritable.code, unwritable.errors]).toEqual([
    1,
    expect.stringContaining("cannot be written (ENOENT)"),
  ]);
  expect(await sentBy(account)).toBe(0);
});

test("produces the same addresses and deploys nothing twice when it is killed after any step and rerun", async () => {
  const words = `apply ${OPTIONS} ${HUB.split(" ").slice(4).join(" ")} ${QUICK}`;
  const creations = [...plan.creations, ...hubPlan.creations];
  for (const [step, count] of [
    ["broadcast", 1],
    ["broadcast", 3],
    ["deployed", 1],
  ] as const)
    await undoAfter(async () => {
      const { env, account } = await newDeployer();
      await runKilled(words, env, step, count);
      const { code, errors, lines, output } = await run(words, env);
      expect([code, errors]).toEqual([0, ""]);
      const deployed = lines.filter(({ step: line }) => line === "deployed").map((line) => line["address"]);
      expect(deployed).toEqual(creations.map(({ address: planned }) => planned));
      // Every transaction of the deployer created a contract.
      expect(await sentBy(account)).toBe(creations.length);
      expect(output).toContain(`MINE_DEPOSITORY_ADDRESS=${plannedAddress(plan, "Depository")}\n`);

      const rerun = await run(words, env);
      expect([rerun.code, rerun.errors, await sentBy(account)]).toEqual([0, "", creations.length]);
    });
});

test("waits for transactions of a killed run, and ends with code 3 while they are not mined", async () => {
  await undoAfter(async () => {
    const { env, account } = await newDeployer();
    await client.setAutomine(false);
    await runKilled(`apply ${OPTIONS} ${QUICK}`, env, "broadcast", 5);
    const waiting = await run(`apply ${OPTIONS} --confirmations 1 --wait 1`, env);
    expect([waiting.code, waiting.errors]).toEqual([
      3,
      expect.stringMatching(
        /transactions with nonces 0 to \d of 0x.* were not mined in time.*raise their fees or cancel them/,
      ),
    ]);
    await client.mine({ blocks: 1 });
    await client.setAutomine(true);
    const { code, errors } = await run(`apply ${OPTIONS} ${QUICK}`, env);
    expect([code, errors, await sentBy(account)]).toEqual([0, "", 5]);
  });
});

test("two concurrent runs with one key deploy every contract once", async () => {
  await undoAfter(async () => {
    const { env } = await newDeployer();
    const concurrent = await run(`apply ${OPTIONS} ${QUICK}`, env, 2);
    expect([concurrent.code, concurrent.errors]).toEqual([0, ""]);
    expect((await run(`verify ${OPTIONS}`, env)).code).toBe(0);
  });
});

test("waits for confirmations, and resends transactions that a reorg dropped", async () => {
  await undoAfter(async () => {
    const { env } = await newDeployer();
    const before = await client.snapshot();
    const front = await startFaultyRpc({ upstream: node.url });
    let nonceReads = 0;
    front.trouble((_, methods) => {
      if (methods.includes("eth_getTransactionCount")) nonceReads++;
      return undefined;
    });
    const running = run(`apply ${OPTIONS} --confirmations 3 --wait 90`, { ...env, MINE_RPC_URL: front.url });
    const lastContract = plannedAddress(plan, "DepositAddressFactory");
    const hasCode = async () => (await client.getCode({ address: lastContract })) !== undefined;
    await vi.waitFor(async () => expect(await hasCode()).toBe(true), { timeout: 10_000 });
    // Waits until the command has read the nonce too; otherwise it treats the transactions as pending for 30
    // seconds. A second read of the nonce shows that the first one was answered.
    nonceReads = 0;
    await vi.waitFor(() => expect(nonceReads).toBeGreaterThanOrEqual(2), { timeout: 30_000 });
    await client.revert({ id: before });
    await vi.waitFor(async () => expect(await hasCode()).toBe(true), { timeout: 60_000 });
    await client.mine({ blocks: 3 });
    const { code, errors } = await running;
    expect([code, errors]).toEqual([0, ""]);
    expect(await hasCode()).toBe(true);
    await front.stop();
  });
});

test("creates the deterministic deployer on a chain without it", async () => {
  await undoAfter(async () => {
    await client.setCode({ address: deterministicDeployer, bytecode: "0x" });
    const { env } = await newDeployer();
    const planned = await run(`plan ${OPTIONS}`, env);
    expect(planned.lines.at(-1)).toMatchObject({ deterministicDeployer: expect.stringContaining("missing") });
    const { code, errors } = await run(`apply ${OPTIONS} ${QUICK}`, env);
    expect([code, errors]).toEqual([0, ""]);
    expect(await client.getCode({ address: deterministicDeployer })).toBe(deterministicDeployerCode);
    expect((await run(`verify ${OPTIONS}`, env)).code).toBe(0);

    await client.setCode({ address: deterministicDeployer, bytecode: "0x6001" });
    const wrong = await run(`plan ${OPTIONS}`, env);
    expect([wrong.code, wrong.errors]).toEqual([
      1,
      expect.stringContaining("is not the deterministic deployer's"),
    ]);
  });
});

test("verify finds one altered byte, a wrong immutable, a wrong owner and other signers", async () => {
  await undoAfter(async () => {
    const { env } = await newDeployer();
    expect((await run(`verify ${OPTIONS}`, env)).code).toBe(1);
    expect((await run(`apply ${OPTIONS} ${QUICK}`, env)).code).toBe(0);
    expect((await run(`apply ${HUB} ${QUICK}`, env)).code).toBe(0);
    const good = await run(`verify ${OPTIONS}`, env);
    expect([good.code, new Set(good.lines.map(({ state }) => state))]).toEqual([0, new Set(["asPlanned"])]);
    expect((await run(`verify ${HUB}`, env)).code).toBe(0);

    const depository = plannedAddress(plan, "Depository");
    const router = plannedAddress(plan, "Router");
    const proxy = plannedAddress(plan, "ApprovalProxy");
    const multisig = plannedAddress(hubPlan, "OracleMultisig");
    await replaceCode(
      router,
      (code) => `${code.slice(0, 200)}${code[200] === "0" ? "1" : "0"}${code.slice(201)}`,
    );
    await replaceCode(proxy, (code) => code.replace(router.slice(2).toLowerCase(), SOLVER.slice(2)));
    await client.setBalance({ address: OWNER, value: 10n ** 20n });
    await client.impersonateAccount({ address: OWNER });
    const handOver = { abi: depositoryAbi, functionName: "transferOwnership", args: [SOLVER] } as const;
    const lowerThreshold = {
      abi: oracleMultisigAbi,
      functionName: "setSigners",
      args: [ORACLES, 1n],
    } as const;
    for (const [to, data] of [
      [depository, encodeFunctionData(handOver)],
      [multisig, encodeFunctionData(lowerThreshold)],
    ] as const)
      await client.sendTransaction({ account: OWNER, to, data });

    const bad = await run(`verify ${OPTIONS}`, env);
    expect(bad.code).toBe(1);
    const differencesOf = (name: string) =>
      bad.lines.find(({ contract }) => contract === name)?.["differences"];
    expect(differencesOf("Router")).toEqual([
      expect.stringMatching(/^byte 99 of the code is 0x.., expected 0x..$/),
    ]);
    expect(differencesOf("ApprovalProxy")).toEqual([expect.stringContaining("immutable router is 0x")]);
    expect(differencesOf("Depository")).toEqual([
      `owner() is ${SOLVER.toLowerCase()}, expected ${OWNER.toLowerCase()} (owner)`,
    ]);
    expect(differencesOf("Receiver")).toBeUndefined();
    const hub = await run(`verify ${HUB}`, env);
    expect([hub.code, hub.output]).toEqual([
      1,
      expect.stringContaining("threshold() is 1, expected 2 (threshold)"),
    ]);
    // `apply` refuses such entries too.
    const refused = await run(`apply ${OPTIONS} ${QUICK}`, env);
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining("Depository at 0x")]);
  });
});

async function replaceCode(contract: Address, change: (code: string) => string): Promise<void> {
  const code = (await client.getCode({ address: contract })) ?? "0x";
  await client.setCode({ address: contract, bytecode: change(code) as Hex });
}

test("verify finds another account with a role, until the role is revoked", async () => {
  await undoAfter(async () => {
    const { env } = await newDeployer();
    expect((await run(`apply ${HUB} ${QUICK}`, env)).code).toBe(0);
    await client.setBalance({ address: OWNER, value: 10n ** 20n });
    await client.impersonateAccount({ address: OWNER });
    const allocatorAddress = plannedAddress(hubPlan, "Allocator");
    const sendAsOwner = async (functionName: "grantRoles" | "revokeRoles") => {
      const data = encodeFunctionData({ abi: allocatorAbi, functionName, args: [STRANGER, 1n] });
      await client.sendTransaction({ account: OWNER, to: allocatorAddress, data });
    };
    await sendAsOwner("grantRoles");
    const bad = await run(`verify ${HUB}`, env);
    expect(bad.code).toBe(1);
    expect(bad.lines.find(({ contract }) => contract === "Allocator")).toMatchObject({
      differences: [`rolesOf(${STRANGER.toLowerCase()}) is 1, expected 0: another account has a role`],
    });
    await sendAsOwner("revokeRoles");
    const good = await run(`verify ${HUB}`, env);
    expect([good.code, good.lines.some((line) => "notChecked" in line)]).toEqual([0, false]);
  });
});

test("verify asks every endpoint", async () => {
  const empty = await startAnvil({ chainId: 4321 });
  try {
    await undoAfter(async () => {
      const { env: deployerEnv } = await newDeployer();
      const env = { ...deployerEnv, EMPTY_RPC_URL: empty.url };
      expect((await run(`apply ${OPTIONS} ${QUICK}`, env)).code).toBe(0);
      const bad = await run(`verify ${OPTIONS.replace("--chain mine", "--chain two-endpoints")}`, env);
      expect(bad.code).toBe(1);
      expect(bad.lines.find(({ contract }) => contract === "Depository")).toMatchObject({
        state: "differs",
        differences: ["an endpoint shows no code at the address"],
      });
    });
  } finally {
    await empty.stop();
  }
});

test("writes the entries, refuses other arguments afterwards, and keeps replaced contracts as former ones", async () => {
  await undoAfter(async () => {
    const { env, account } = await newDeployer();
    expect((await run(`apply ${OPTIONS} ${QUICK} --write ${folder}`, env)).code).toBe(0);
    expect((await run(`apply ${HUB} ${QUICK} --write ${folder}`, env)).code).toBe(0);
    const [otherEntry, mine] = await entriesOf("chains.test.json");
    const depository = plannedAddress(plan, "Depository");
    expect(otherEntry).toEqual({
      id: "other",
      chainId: 1,
      vmType: "ethereum-vm",
      httpRpcUrl: "$OTHER_RPC_URL",
    });
    expect(mine).toMatchObject({
      httpRpcUrl: "$MINE_RPC_URL",
      depository,
      contracts: {
        router: plannedAddress(plan, "Router"),
        serviceReceiver: plannedAddress(plan, "Receiver"),
        depositAddressFactory: plannedAddress(plan, "DepositAddressFactory"),
      },
    });
    expect((await entriesOf("chains.hub.test.json"))[0]).toMatchObject({
      chainId: "$HUB_CHAIN_ID",
      hubAddress: plannedAddress(hubPlan, "Hub"),
      oracleMultisigAddress: plannedAddress(hubPlan, "OracleMultisig"),
    });

    const sent = await sentBy(account);
    const changed = OPTIONS.replace(ALLOCATOR, STRANGER);
    const refused = await run(`apply ${changed} ${QUICK}`, env);
    expect([refused.code, refused.errors]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(
          `depository is ${depository} .*: allocator\\(\\) is ${ALLOCATOR}, expected ${STRANGER} .* add --replace`,
          "i",
        ),
      ),
    ]);
    const otherHub = await run(
      `apply ${HUB.replace("--threshold 2", "--threshold 3")} ${QUICK} --replace`,
      env,
    );
    expect([otherHub.code, otherHub.errors]).toEqual([
      1,
      expect.stringContaining("threshold() is 2, expected 3 (threshold). The balances on a hub cannot move"),
    ]);
    expect(await sentBy(account)).toBe(sent);

    expect((await run(`apply ${changed} ${QUICK} --replace --write ${folder}`, env)).code).toBe(0);
    expect((await entriesOf("chains.test.json"))[1]).toMatchObject({
      additionalDepositories: [depository],
      contracts: { formerContracts: [depository, plannedAddress(plan, "DepositAddressFactory")] },
    });
    expect((await run(`verify ${changed}`, env)).code).toBe(0);
    expect((await run(`verify ${OPTIONS}`, env)).code).toBe(1);
  });
});

async function entriesOf(fileName: string): Promise<readonly object[]> {
  return JSON.parse(await readFile(join(folder, fileName), "utf8")) as readonly object[];
}

test("the contracts of the local system are those of the plan", async () => {
  const { chainId, name } = localHub;
  const state = inject("chainStates")[72_100_117] ?? "";
  const [chain, hub] = await Promise.all([
    startAnvil({ chainId: 72_100_117, extraArgs: ["--load-state", state] }),
    startAnvil({ chainId, extraArgs: ["--no-mining"] }),
  ]);
  try {
    const oracles = localAccounts("oracle", 3).map((account) => account.address);
    const contracts = await deployHub(hub, { signers: oracles, threshold: 2 });
    const [owner, allocator, solver, operator] = (
      ["owner", "allocator", "solver", "depositAddressOperator"] as const
    ).map((role) => localAccount(role).address);
    const env = {
      ENVIRONMENT: "local",
      CONFIGS_DIR: join(repositoryRoot, "configs"),
      VAULT_SECRETS_DIR: "/nonexistent",
      LOCAL_A_RPC_URL: chain.url,
      HUB_RPC_URL: hub.url,
      HUB_CHAIN_ID: String(chainId),
      HUB_ADDRESS: contracts.hub,
    };
    const words = `--owner ${owner} --allocator ${allocator} --solver ${solver} --deposit-address-operator ${operator} --chain local-a`;
    const onChain = await run(`verify ${words}`, env);
    expect([onChain.code, onChain.lines.length], onChain.errors + onChain.output).toEqual([0, 7]);
    expect(onChain.lines.map((line) => line["contract"])).toContain("Multicall3");
    const quorum = `--hub ${oracles.map((oracle) => `--oracle ${oracle}`).join(" ")} --threshold 2`;
    const onHub = await run(`verify --owner ${owner} --allocator ${allocator} ${quorum}`, env);
    expect(onHub.lines.map((line) => [line["chain"], line["state"]])).toEqual(
      Array.from({ length: 6 }, () => [name, "asPlanned"]),
    );
  } finally {
    await Promise.all([chain.stop(), hub.stop()]);
  }
});
