import {
  askNode,
  depositoryProgram,
  forwarderProgram,
  initializeInstruction,
  programDataAddress,
  sendInstructions,
  solanaKey,
  startSolana,
  type RunningSolana,
  type SolanaKey,
} from "@causeway/simulators/solana";
import { deployLocalPrograms, planLocalPrograms } from "@causeway/localnet/tour";
import { repositoryRoot } from "@causeway/testkit";
import { bytesOf } from "@causeway/domain";
import { encodeAddress } from "@causeway/families";
import { depositoryAccounts } from "@causeway/families/solana";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatUnits, parseUnits } from "viem";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { runDeployCommand as run, runDeployKilled as runKilled } from "../../support/run-deploy.ts";
import { startSolanaFront } from "../../support/solana-front.ts";

// The operator's command on a Solana cluster. Tests that kill the command run it in a separate process.

const GENESIS = "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY";
const SOL = 1_000_000_000n;
/** The number of bytes before the program in each kind of the loader's accounts. */
const HEADER = { buffer: 37, programData: 45 };
const elf = depositoryProgram();

let node: RunningSolana;
let folder: string;
/** An account without a private key, like the vault of a multisig wallet. */
let vault: string;
let allocator: SolanaKey;

beforeAll(async () => {
  node = await startSolana({ slotMs: 50, finalityLag: 4, genesisHash: GENESIS });
  folder = await mkdtemp(join(tmpdir(), "causeway-deploy-solana-"));
  ({ vault } = await depositoryAccounts((await solanaKey()).address));
  await askNode(node.url, "requestAirdrop", [vault, Number(SOL)]);
  allocator = await solanaKey();
  await writeEntry(folder, "$SOL_RPC_URL");
});
afterEach(() => void vi.restoreAllMocks());
afterAll(async () => {
  await node.close();
  await rm(folder, { recursive: true, force: true });
});

async function writeEntry(directory: string, httpRpcUrl: string | readonly string[]): Promise<void> {
  const entry = {
    id: "sol",
    chainId: 72,
    vmType: "solana-vm",
    httpRpcUrl,
    native: { symbol: "SOL" },
    depository: "$SOL_DEPOSITORY_PROGRAM",
    additionalData: { genesisHash: GENESIS },
  };
  await writeFile(join(directory, "chains.test.json"), JSON.stringify([entry]));
}

interface ChainEntry {
  readonly depository?: string;
  readonly depositoryRoles?: object;
  readonly depositAddressProgram?: string;
}

async function entryIn(configsDir: string): Promise<ChainEntry | undefined> {
  const [entry] = JSON.parse(await readFile(join(configsDir, "chains.test.json"), "utf8")) as ChainEntry[];
  return entry;
}

interface Operator {
  readonly key: SolanaKey;
  readonly env: Record<string, string>;
  /** The options of the command, which follow the action. */
  readonly options: string;
}

/** A new deployer that has never sent a transaction. */
async function newOperator(lamports = 2n * SOL): Promise<Operator> {
  const key = await solanaKey();
  await askNode(node.url, "requestAirdrop", [key.address, Number(lamports)]);
  node.controls.passSlots(2);
  return {
    key,
    env: {
      ENVIRONMENT: "test",
      CONFIGS_DIR: folder,
      VAULT_SECRETS_DIR: "/nonexistent",
      DEPLOYER_SOLANA_KEY: `0x${Buffer.from(key.seed).toString("hex")}`,
      SOL_RPC_URL: node.url,
    },
    options: `--chain sol --owner ${vault} --allocator ${allocator.address} --wait 30`,
  };
}

/** A deployer whose program is deployed. Several tests use it and do not change it. */
let sharedDeployment: Promise<Operator> | undefined;
async function newDeployment(): Promise<Operator> {
  const operator = await newOperator();
  expect(await run(`apply ${operator.options}`, operator.env)).toMatchObject({ code: 0, errors: "" });
  return operator;
}

const lamportsOf = (address: string): bigint => node.controls.account(address)?.lamports ?? 0n;
const sendCount = (): number => node.controls.calls("sendTransaction");

interface PlannedProgram {
  readonly program: string;
  readonly programData: string;
  readonly depository: string;
  readonly vault: string;
  readonly buffer: string;
  readonly transactions: number;
  /** SOL, with the unit. */
  readonly fees: string;
}

async function planOf({ env, options }: Operator): Promise<PlannedProgram> {
  const { lines } = await run(`plan ${options}`, env);
  const buffer = lines.find(({ account }) => account === "buffer")?.["address"];
  const { transactions, fees } = lines.at(-1) as unknown as PlannedProgram;
  return { ...(lines[0] as unknown as PlannedProgram), buffer: String(buffer), transactions, fees };
}

/** Initializes an existing program with another allocator. */
async function initializeAs(owner: SolanaKey, program: string): Promise<SolanaKey> {
  const otherAllocator = await solanaKey();
  await askNode(node.url, "requestAirdrop", [owner.address, Number(SOL)]);
  node.controls.passSlots(2);
  await sendInstructions(
    node.url,
    [owner],
    [
      initializeInstruction({
        ...(await depositoryAccounts(program)),
        owner: owner.address,
        allocator: otherAllocator.address,
        programData: await programDataAddress(program),
        chainName: "sol",
      }),
    ],
  );
  node.controls.finalize();
  return otherAllocator;
}

test("plan prints addresses, sizes, rent, authority, owner and fees, and sends nothing", async () => {
  const { key, env, options } = await newOperator();
  const before = sendCount();
  const { code, lines, errors } = await run(`plan ${options}`, env);
  expect([code, errors]).toEqual([0, ""]);
  expect(lines[0]).toMatchObject({
    chain: "sol",
    loader: "BPFLoaderUpgradeab1e11111111111111111111111",
    bytes: elf.length,
    sha256: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    upgradeAuthority: vault,
    owner: vault,
    allocator: allocator.address,
    genesisHash: GENESIS,
    found: { program: false, upgradeAuthority: null, depository: null },
  });
  expect(lines.find(({ account }) => account === "buffer")).toMatchObject({
    state: "missing",
    rent: "0.15504792 SOL, returned when the program is deployed",
  });
  const transactions = lines.flatMap(({ transaction, count }) => (transaction ? [[transaction, count]] : []));
  expect(transactions).toEqual([
    ["createBuffer", 1],
    ["write", expect.any(Number)],
    ["deploy", 1],
    ["initialize", 1],
  ]);
  expect(lines.at(-1)).toMatchObject({
    needed: expect.stringMatching(/^0\.1\d+ SOL$/),
    deployerBalance: "2 SOL",
  });
  const { DEPLOYER_SOLANA_KEY: _, ...keyless } = env;
  const withoutKey = await run(`plan ${options} --deployer ${key.address}`, keyless);
  expect([withoutKey.code, withoutKey.errors]).toEqual([
    1,
    expect.stringContaining("DEPLOYER_SOLANA_KEY is required to plan a program"),
  ]);
  const keyFile = JSON.stringify([...key.seed, ...bytesOf(encodeAddress("solana-vm", key.address))]);
  const withFile = await run(`plan ${options}`, { ...env, DEPLOYER_SOLANA_KEY: keyFile });
  expect([withFile.code, withFile.lines[0]]).toEqual([0, lines[0]]);
  expect(sendCount()).toBe(before);
});

test("refuses faulty input before anything is sent, and names the remedy", async () => {
  const underfunded = await newOperator(SOL / 10n);
  const before = sendCount();
  const refusalOf = async (words: string, env: Record<string, string>) => {
    const { code, errors } = await run(words, env);
    return [code, errors];
  };
  expect(await refusalOf(`apply ${underfunded.options}`, underfunded.env)).toEqual([
    1,
    expect.stringMatching(/has 0\.1 SOL, and 0\.\d+ SOL are needed; send it 0\.\d+ SOL/),
  ]);
  const otherCluster = await startSolana({ slotMs: 0 });
  try {
    expect(
      await refusalOf(`apply ${underfunded.options}`, { ...underfunded.env, SOL_RPC_URL: otherCluster.url }),
    ).toEqual([
      1,
      expect.stringContaining(`expected ${GENESIS}, which additionalData.genesisHash names; correct the URL`),
    ]);
  } finally {
    await otherCluster.close();
  }
  const holder = (await solanaKey()).address;
  expect(await refusalOf(`apply ${underfunded.options.replace(vault, holder)}`, underfunded.env)).toEqual([
    2,
    expect.stringContaining("add --owner-is-account"),
  ]);
  expect(
    await refusalOf(
      `apply ${underfunded.options.replace(allocator.address, underfunded.key.address)}`,
      underfunded.env,
    ),
  ).toEqual([2, expect.stringContaining("--allocator and the deployer must be different accounts")]);
  const { vault: unfunded } = await depositoryAccounts(holder);
  const optionsWithNewOwner = underfunded.options.replace(vault, unfunded);
  const refusal = await refusalOf(`apply ${optionsWithNewOwner}`, underfunded.env);
  expect(refusal).toEqual([
    1,
    expect.stringMatching(`--owner: ${unfunded} has no account on this chain.* fund the vault first`),
  ]);
  const [, acceptedErrors] = await refusalOf(
    `apply ${optionsWithNewOwner} --owner-may-be-new`,
    underfunded.env,
  );
  expect(acceptedErrors).not.toContain("--owner");
  expect(
    await refusalOf(`apply ${underfunded.options} --write ${join(folder, "none")}`, underfunded.env),
  ).toEqual([1, expect.stringContaining("cannot be written (ENOENT)")]);
  expect(sendCount()).toBe(before);
});

/** Ways to end a run in the middle. `transactions` is the number in the plan. */
const INTERRUPTIONS: Readonly<
  Record<string, (words: string, env: Operator["env"], transactions: number) => Promise<unknown>>
> = {
  "a kill while the program is written": async (words, env) =>
    await runKilled(words, env, '"step":"broadcast","transaction":"write', 9),
  "a connection that is lost for good before the initialization": async (words, env, transactions) => {
    node.controls.injectFaults(({ method, before }) =>
      method === "sendTransaction" && before >= transactions - 1 ? { kind: "cut" } : undefined,
    );
    const { code, errors } = await run(words.replace("--wait 30", "--wait 6"), env);
    node.controls.injectFaults(undefined);
    expect([code, errors]).toEqual([3, expect.stringContaining("an endpoint failed (sendTransaction: ")]);
  },
};

test.each(Object.keys(INTERRUPTIONS))(
  "a second run after %s completes one program with one owner, and loses no rent",
  async (interruption) => {
    const operator = await newOperator();
    const { env, options, key } = operator;
    const planned = await planOf(operator);
    const { program, programData, depository, vault: depositoryVault, buffer, transactions } = planned;
    const plannedFees = parseUnits(planned.fees.replace(" SOL", ""), 9);
    await INTERRUPTIONS[interruption]?.(`apply ${options}`, env, transactions);
    const { code, errors, lines, output } = await run(`apply ${options}`, env);
    expect([code, errors]).toEqual([0, ""]);
    expect([lines[0]?.["program"], output]).toEqual([
      program,
      expect.stringContaining(`SOL_DEPOSITORY_PROGRAM=${program}\n`),
    ]);
    expect((await run(`verify ${options}`, env)).lines).toMatchObject([
      {
        state: "asPlanned",
        program,
        found: {
          upgradeAuthority: vault,
          depository: { owner: vault, allocator: allocator.address },
        },
      },
    ]);
    expect(node.controls.account(buffer)).toBeUndefined();
    const keptLamports = [program, programData, depository, depositoryVault].reduce(
      (sum, account) => sum + lamportsOf(account),
      0n,
    );
    const fees = 2n * SOL - lamportsOf(key.address) - keptLamports;
    // Every transaction is paid for at least once and at most twice.
    expect([fees >= plannedFees, fees <= 2n * plannedFees]).toEqual([true, true]);
    const before = sendCount();
    expect((await run(`apply ${options}`, env)).code).toBe(0);
    expect(sendCount()).toBe(before);
  },
);

test("completes in one run despite intermittent endpoint failures, and pays for no transaction twice", async () => {
  const operator = await newOperator();
  const { env, options, key } = operator;
  const planned = await planOf(operator);
  const { program, programData, depository, vault: depositoryVault, transactions } = planned;
  const entryFolder = await mkdtemp(join(folder, "written-"));
  let [sends, finalReads] = [0, 0];
  const firstEndpoint = await startSolanaFront(node.url, {
    outage: ({ method }) => {
      if (method !== "sendTransaction") return undefined;
      sends += 1;
      return sends === 4 ? "before" : sends === 9 ? "after" : undefined;
    },
  });
  const secondEndpoint = await startSolanaFront(node.url, {
    // The outage lasts for one call more than the transport retries.
    outage: ({ method }) => (method === "getMultipleAccounts" && finalReads++ < 2 ? "before" : undefined),
  });
  try {
    await writeEntry(entryFolder, [firstEndpoint.url, secondEndpoint.url]);
    const applied = await run(`apply ${options} --write ${entryFolder}`, {
      ...env,
      CONFIGS_DIR: entryFolder,
    });
    expect([applied.code, applied.errors]).toEqual([0, ""]);
    expect(await entryIn(entryFolder)).toMatchObject({
      depository: program,
      depositoryRoles: { upgradeAuthority: vault, owner: vault, allocator: allocator.address },
    });
  } finally {
    await firstEndpoint.close();
    await secondEndpoint.close();
  }
  expect([sends > transactions, finalReads > 2]).toEqual([true, true]);
  const keptLamports = [program, programData, depository, depositoryVault].reduce(
    (sum, account) => sum + lamportsOf(account),
    0n,
  );
  const paidLamports = 2n * SOL - lamportsOf(key.address) - keptLamports;
  expect(`${formatUnits(paidLamports, 9)} SOL`).toBe(planned.fees);
});

test("writes no entry while a second endpoint shows other bytes", async () => {
  const { env, options } = await (sharedDeployment ??= newDeployment());
  const entryFolder = await mkdtemp(join(folder, "written-"));
  const otherEndpoint = await startSolanaFront(node.url, {
    result: ({ method }, honest) =>
      method === "getMultipleAccounts" ? withOtherByte(honest as AccountsAnswer) : honest,
  });
  try {
    await writeEntry(entryFolder, [node.url, otherEndpoint.url]);
    const words = `apply ${options.replace("--wait 30", "--wait 1")} --write ${entryFolder}`;
    const { code, errors } = await run(words, { ...env, CONFIGS_DIR: entryFolder });
    const reason = `${new URL(otherEndpoint.url).host}: program \\w+ is not this build`;
    expect([code, errors]).toEqual([1, expect.stringMatching(reason)]);
  } finally {
    await otherEndpoint.close();
  }
  expect((await entryIn(entryFolder))?.depository).toBe("$SOL_DEPOSITORY_PROGRAM");
});

interface AccountsAnswer {
  readonly value: readonly ({ readonly data: readonly [string, string] } | null)[];
}

/** The answer with one byte of the program changed in the accounts of a plan. */
function withOtherByte(answer: AccountsAnswer): AccountsAnswer {
  const value = answer.value.map((account, index) => {
    const data = Buffer.from(account?.data[0] ?? "", "base64");
    if (index !== 2 || account === null) return account;
    data[HEADER.programData + 100] = (data[HEADER.programData + 100] ?? 0) ^ 1;
    return { ...account, data: [data.toString("base64"), "base64"] as const };
  });
  return { ...answer, value };
}

test("returns the rent of a buffer that a late transaction of a killed run created again", async () => {
  const { env, options, key } = await (sharedDeployment ??= newDeployment());
  // The buffer's address follows from the deployer and the program, so another plan has the same buffer.
  const { buffer } = await planOf({ key, env, options: options.replace(vault, "none") });
  const data = Buffer.alloc(HEADER.buffer + elf.length);
  data.writeUInt32LE(1, 0);
  data.writeUInt8(1, 4);
  data.set(bytesOf(encodeAddress("solana-vm", key.address)), 5);
  node.controls.setAccount(buffer, {
    lamports: 155_047_920n,
    owner: "BPFLoaderUpgradeab1e11111111111111111111111",
    executable: false,
    data,
  });
  const before = lamportsOf(key.address);
  expect(await run(`apply ${options}`, env)).toMatchObject({ code: 0, errors: "" });
  expect(lamportsOf(key.address) - before).toBe(155_047_920n - 6_000n);
  expect(node.controls.account(buffer)).toBeUndefined();
});

test("verify fails when one byte differs, and accepts zeros after the program", async () => {
  const operator = await (sharedDeployment ??= newDeployment());
  const { env, options } = operator;
  const { programData } = await planOf(operator);
  const account = node.controls.account(programData);
  if (account === undefined) throw new Error("program was not deployed");
  const longer = Buffer.concat([account.data, Buffer.alloc(100)]);
  node.controls.setAccount(programData, { ...account, data: longer });
  expect((await run(`verify ${options}`, env)).code).toBe(0);
  for (const offset of [HEADER.programData + 5_000, HEADER.programData + elf.length + 50]) {
    const data = Buffer.from(longer);
    data[offset] = (data[offset] ?? 0) ^ 1;
    node.controls.setAccount(programData, { ...account, data });
    const { code, lines } = await run(`verify ${options}`, env);
    expect([code, lines[0]?.["state"], lines[0]?.["differences"]]).toEqual([
      1,
      "differs",
      [expect.stringContaining(`is not this build (${elf.length} bytes, sha256 0x`)],
    ]);
  }
  node.controls.setAccount(programData, account);
  const { DEPLOYER_SOLANA_KEY: _, ...keyless } = env;
  const configured = { ...keyless, SOL_DEPOSITORY_PROGRAM: (await planOf(operator)).program };
  expect((await run(`verify ${options} --deployer ${operator.key.address}`, configured)).code).toBe(0);
  const missing = await run(`verify ${options.replace(vault, "none")}`, env);
  expect([missing.code, missing.lines[0]]).toMatchObject([
    1,
    { state: "missing", differences: ["the program is not deployed"] },
  ]);
});

test.each([
  {
    name: "a stranger's initialization",
    prepare: async (program: string) => {
      const stranger = await solanaKey();
      node.controls.addProgram(program, elf, stranger.address);
      return (await initializeAs(stranger, program)).address;
    },
    reason: (otherAddress: string) =>
      new RegExp(
        `and allocator ${otherAddress}, expected .*Compare both options first. Only if both are right`,
      ),
  },
  {
    name: "other bytes at the program's address",
    prepare: async (program: string, deployer: string) => {
      node.controls.addProgram(program, forwarderProgram(), deployer);
      return "";
    },
    reason: () => /has \d+ bytes, expected 22112/,
  },
  {
    name: "another upgrade authority",
    prepare: async (program: string) => {
      const authority = (await solanaKey()).address;
      node.controls.addProgram(program, elf, authority);
      return authority;
    },
    reason: (authority: string) => new RegExp(`the upgrade authority of \\w+ is ${authority}, expected`),
  },
])("reports $name, and sends nothing", async ({ prepare, reason }) => {
  const operator = await newOperator();
  const { env, options, key } = operator;
  const { program } = await planOf(operator);
  const otherAddress = await prepare(program, key.address);
  const before = sendCount();
  for (const action of ["plan", "apply"]) {
    const { code, errors } = await run(`${action} ${options}`, env);
    expect([code, errors]).toEqual([1, expect.stringMatching(reason(otherAddress))]);
  }
  const { code, output } = await run(`verify ${options}`, env);
  expect([code, output]).toEqual([1, expect.stringMatching(reason(otherAddress))]);
  expect(sendCount()).toBe(before);
});

test("deploys the deposit address program in the same way, and resumes after a kill", async () => {
  const { env, key } = await newOperator(SOL / 5n);
  const options = "--chain sol --deposit-addresses --wait 30";
  const entryFolder = await mkdtemp(join(folder, "written-"));
  const planned = await run(`plan ${options}`, env);
  expect([planned.code, planned.errors]).toEqual([0, ""]);
  const [{ program, programData } = {}] = planned.lines as readonly Partial<PlannedProgram>[];
  const steps = planned.lines.flatMap(({ transaction }) => transaction ?? []);
  expect(steps).toEqual(["createBuffer", "write", "deploy", "handOver"]);
  expect(planned.lines[0]).toMatchObject({ upgradeAuthority: null, found: { program: false } });
  await runKilled(`apply ${options}`, env, '"step":"broadcast","transaction":"write', 5);
  const applied = await run(`apply ${options} --write ${entryFolder}`, env);
  expect([applied.code, applied.errors]).toEqual([0, ""]);
  expect(await entryIn(entryFolder)).toMatchObject({
    depositAddressProgram: program,
    depository: expect.anything(),
  });
  const keptLamports = lamportsOf(program ?? "") + lamportsOf(programData ?? "");
  expect(SOL / 5n - lamportsOf(key.address) - keptLamports).toBeLessThan(SOL / 1_000n);
  const before = sendCount();
  expect((await run(`apply ${options}`, env)).code).toBe(0);
  expect(sendCount()).toBe(before);
  const { DEPLOYER_SOLANA_KEY: _, ...keyless } = env;
  const verify = async () =>
    await run(`verify ${options} --deployer ${key.address}`, { ...keyless, CONFIGS_DIR: entryFolder });
  expect(await verify()).toMatchObject({ code: 0, lines: [{ state: "asPlanned", program }] });
  const account = node.controls.account(programData ?? "");
  if (account === undefined) throw new Error("program was not deployed");
  const upgradeable = Buffer.from(account.data);
  upgradeable.writeUInt8(1, 12);
  node.controls.setAccount(programData ?? "", { ...account, data: upgradeable });
  expect(await verify()).toMatchObject({
    code: 1,
    lines: [{ differences: expect.arrayContaining([expect.stringContaining("expected none")]) }],
  });
});

test("the local system deploys with the same code, so that verify accepts its programs", async () => {
  const local = await startSolana({ slotMs: 50, finalityLag: 4 });
  try {
    await deployLocalPrograms(local);
    const { deployer, depository, plans } = await planLocalPrograms();
    const env = {
      ENVIRONMENT: "local",
      CONFIGS_DIR: join(repositoryRoot, "configs"),
      VAULT_SECRETS_DIR: "/nonexistent",
      LOCAL_SOLANA_RPC_URL: local.url,
    };
    const roles = `--owner ${plans[0].owner} --owner-is-account --allocator ${depository.allocator}`;
    for (const words of [roles, "--deposit-addresses"]) {
      const verify = `verify --chain local-solana --deployer ${deployer.address} ${words}`;
      expect(await run(verify, env)).toMatchObject({ code: 0, lines: [{ state: "asPlanned" }] });
    }
  } finally {
    await local.close();
  }
});

test("only the holder of the deployer's key can compute the program's address", async () => {
  const operator = await newOperator();
  const { env, options } = operator;
  const firstPlan = await planOf(operator);
  expect((await planOf(operator)).program).toBe(firstPlan.program);
  // The buffer's address follows from the deployer's account, so anyone can compute it.
  const otherPlan = await run(`plan ${options.replace(vault, "none")}`, env);
  expect(otherPlan.lines.find(({ account }) => account === "buffer")?.["address"]).toBe(firstPlan.buffer);
  expect(otherPlan.lines[0]?.["program"]).not.toBe(firstPlan.program);
  // Someone who reads the address in a published plan can block the address.
  await askNode(node.url, "requestAirdrop", [firstPlan.programData, Number(SOL / 1_000n)]);
  node.controls.passSlots(2);
  const { code, errors } = await run(`apply ${options}`, env);
  expect([code, errors]).toEqual([1, expect.stringContaining("use another deployer")]);
});

test("initializes a program that was deployed by other means, in a run after one that ran out of time", async () => {
  const { env, options, key } = await newOperator();
  const program = (await solanaKey()).address;
  node.controls.addProgram(program, elf, key.address);
  const entryFolder = await mkdtemp(join(folder, "written-"));
  const words = `${options} --program ${program}`;
  node.controls.dropTransactions(true);
  const timedOut = await run(`apply ${words} --wait 1`, env);
  node.controls.dropTransactions(false);
  expect([timedOut.code, timedOut.errors]).toEqual([3, expect.stringContaining("waiting for: initialize")]);
  const applied = await run(`apply ${words} --write ${entryFolder}`, env);
  expect([applied.code, applied.errors]).toEqual([0, ""]);
  expect(applied.lines.filter(({ step }) => step === "broadcast")).toMatchObject([
    { transaction: "initialize" },
  ]);
  expect(JSON.parse(await readFile(join(entryFolder, "chains.test.json"), "utf8"))).toMatchObject([
    { id: "sol", depository: program, vmType: "solana-vm" },
  ]);
  const configured = { ...env, SOL_DEPOSITORY_PROGRAM: program };
  expect((await run(`verify ${words}`, configured)).code).toBe(0);
  // Without --program, the same options make another plan.
  const otherPlan = await run(`plan ${options}`, configured);
  expect([otherPlan.code, otherPlan.errors]).toEqual([
    1,
    expect.stringContaining(`or --program ${program}, or add --replace`),
  ]);
});
