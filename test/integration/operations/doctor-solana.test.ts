import { bytesOf } from "@causeway/domain";
import { encodeAddress } from "@causeway/families";
import { depositoryAccounts } from "@causeway/families/solana";
import {
  createDepository,
  depositoryProgram,
  programDataAddress,
  solanaKey,
  startSolana,
  type LocalDepository,
  type RunningSolana,
  type SolanaKey,
} from "@causeway/simulators/solana";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { Finding } from "../../../apps/api/src/process/doctor/finding.ts";
import { doctorFindings } from "../../support/run-doctor.ts";
import { startSolanaFront, type SolanaFront } from "../../support/solana-front.ts";

// `operator doctor` on a cluster whose depository program has one fault at a time.

let node: RunningSolana;
let folder: string;
let at: LocalDepository;
let [solver, stranger]: readonly SolanaKey[] = [];
let programData: string;

beforeAll(async () => {
  node = await startSolana({ slotMs: 0, genesisHash: GENESIS });
  folder = await mkdtemp(join(tmpdir(), "causeway-doctor-solana-"));
  [solver, stranger] = await Promise.all([solanaKey(), solanaKey()]);
  at = await createDepository(node, { owner: await solanaKey(), allocator: await solanaKey() });
  programData = await programDataAddress(at.program);
  change(programData, (data) => data.fill(0, 12, 45));
  node.controls.finalize();
});
afterEach(() => void vi.restoreAllMocks());
afterAll(async () => {
  await node.close();
  await rm(folder, { recursive: true, force: true });
});

const GENESIS = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
const keyOf = (key: SolanaKey | undefined): Uint8Array =>
  bytesOf(encodeAddress("solana-vm", key?.address ?? ""));
/** Byte offsets of fields in the accounts of the loader and of the depository. */
const IN = { authority: 12, code: 45 + 5_000, owner: 8, allocator: 40, domain: 74 };

/** Changes the data of an account. Returns a function that restores the data. */
function change(address: string, edit: (data: Buffer) => unknown): () => void {
  const account = node.controls.account(address);
  if (account === undefined) throw new Error(`no account ${address}`);
  const data = Buffer.from(account.data);
  edit(data);
  node.controls.setAccount(address, { ...account, data });
  return () => node.controls.setAccount(address, account);
}

interface Configured {
  readonly program?: string;
  readonly urls?: readonly string[];
  readonly roles?: object | undefined;
}

/**
 * The findings about the program. The configuration is the mainnet entry of Solana, changed to this cluster.
 */
async function examine(configured: Configured = {}): Promise<readonly Finding[]> {
  const { program = at.program, urls = [node.url] } = configured;
  const depositoryRoles = {
    upgradeAuthority: "none",
    owner: at.owner.address,
    allocator: at.allocator.address,
  };
  const path = resolve(import.meta.dirname, "../../../configs/chains.mainnets.prod.json");
  const entries = JSON.parse(await readFile(path, "utf8")) as { readonly id: string }[];
  const entry = {
    ...entries.find(({ id }) => id === "solana"),
    httpRpcUrl: urls.length === 1 ? urls[0] : urls,
    depository: program,
    ...("roles" in configured
      ? configured.roles && { depositoryRoles: configured.roles }
      : { depositoryRoles }),
  };
  await writeFile(join(folder, "chains.test.json"), JSON.stringify([entry]));
  const all = await doctorFindings({
    ENVIRONMENT: "test",
    CONFIGS_DIR: folder,
    VAULT_SECRETS_DIR: "/nonexistent",
    SOLVER_PRIVATE_KEY: `0x${"5a".repeat(32)}`,
    SOLVER_SOLANA_KEY: `0x${Buffer.from(solver?.seed ?? []).toString("hex")}`,
  });
  return all.filter(({ subject }) => subject.startsWith("depository on solana"));
}

const faults = (all: readonly Finding[]): readonly string[] =>
  all.filter(({ state }) => state !== "ok").map(({ state, check }) => `${state} ${check}`);

test("finds no fault in a program that was deployed as documented", async () => {
  const all = await examine();
  expect(faults(all)).toEqual([]);
  expect(all.map(({ check }) => check)).toEqual([
    "contract.code",
    "contract.upgrade-authority",
    "contract.owner",
    "contract.allocator",
    "contract.domain",
  ]);
});

interface Fault {
  readonly name: string;
  /** Creates the fault. Returns the configuration that shows it, or a function that removes the fault. */
  readonly seed: () => Promise<Configured> | (() => void);
  readonly check: string;
  readonly found: () => string;
  readonly why: string;
  readonly remedy: string;
}

const APPLY = "npm run operator -- deploy apply --chain solana --owner <vault> --allocator <address>";
const FAULTS: readonly Fault[] = [
  {
    name: "a missing program",
    seed: async () => ({ program: stranger?.address ?? "" }),
    check: "contract.code",
    found: () => `there is no program at ${stranger?.address}`,
    why: "deposits on this chain fail",
    remedy: APPLY,
  },
  {
    name: "another program than this version's",
    seed: () => change(programData, (data) => data.writeUInt8((data[IN.code] ?? 0) ^ 1, IN.code)),
    check: "contract.build",
    found: () => `program ${at.program} is not this build`,
    why: "the service does not know what the program does",
    remedy: "set depositEnabled of solana to false",
  },
  {
    name: "a program that a stranger can upgrade",
    seed: () => change(programData, (data) => data.fill(authorityOf(stranger), IN.authority, 45)),
    check: "contract.upgrade-authority",
    found: () => `the upgrade authority is ${stranger?.address}, expected none`,
    why: "can replace the program and take all deposits",
    remedy: "solana program set-upgrade-authority",
  },
  {
    name: "a program that the service's key can upgrade",
    seed: () => change(programData, (data) => data.fill(authorityOf(solver), IN.authority, 45)),
    check: "contract.upgrade-authority",
    found: () => `the upgrade authority is ${solver?.address}, a key of this service`,
    why: "can replace the program and take all deposits",
    remedy: "--new-upgrade-authority <vault of a multisignature wallet>",
  },
  {
    name: "a program that is not initialized",
    seed: async () => {
      const program = (await solanaKey()).address;
      node.controls.addProgram(program, depositoryProgram(), stranger?.address);
      node.controls.finalize();
      return { program, roles: undefined };
    },
    check: "contract.initialized",
    found: () => "is not initialized",
    why: "deposits on this chain fail",
    remedy: "in DEPLOYER_SOLANA_KEY: npm run operator -- deploy apply --chain solana",
  },
  {
    name: "another owner than configured",
    seed: () => change(at.depository, (data) => data.set(keyOf(stranger), IN.owner)),
    check: "contract.owner",
    found: () => `the owner is ${stranger?.address}, expected ${at.owner.address}`,
    why: "can take the money at open deposit addresses",
    remedy: APPLY,
  },
  {
    name: "another allocator than configured",
    seed: () => change(at.depository, (data) => data.set(keyOf(stranger), IN.allocator)),
    check: "contract.allocator",
    found: () => `the allocator is ${stranger?.address}, expected ${at.allocator.address}`,
    why: "can pay out all deposits, and yours cannot",
    remedy: APPLY,
  },
  {
    name: "the service's key as allocator",
    seed: () => change(at.depository, (data) => data.set(keyOf(solver), IN.allocator)),
    check: "contract.allocator",
    found: () => `the allocator is ${solver?.address}, a key of this service`,
    why: "an attacker with this key can take all deposits",
    remedy: APPLY,
  },
  {
    name: "the domain of another chain id",
    seed: () => change(at.depository, (data) => data.fill(7, IN.domain, IN.domain + 32)),
    check: "contract.domain",
    found: () => `the domain is 0x${"07".repeat(32)}, expected ${at.domain} for id solana`,
    why: "deposits cannot be paid out",
    remedy: "restore the id",
  },
];

/** An upgrade authority in the format of the loader. */
function authorityOf(key: SolanaKey | undefined): Buffer {
  return Buffer.from([1, ...keyOf(key)]);
}

test.each(FAULTS)("finds $name", async ({ seed, check, found, why, remedy }) => {
  const seeded = await seed();
  try {
    const all = await examine(typeof seeded === "function" ? {} : seeded);
    expect(all.filter(({ state }) => state === "problem")).toEqual([
      {
        check,
        subject: "depository on solana",
        state: "problem",
        found: expect.stringContaining(found()),
        why: expect.stringContaining(why),
        remedy: expect.stringContaining(remedy),
      },
    ]);
  } finally {
    if (typeof seeded === "function") seeded();
  }
});

test("warns of any upgrade authority while the configuration names none", async () => {
  const undo = change(programData, (data) => data.fill(authorityOf(stranger), IN.authority, 45));
  expect(faults(await examine({ roles: undefined }))).toEqual(["warning contract.upgrade-authority"]);
  undo();
  const { vault } = await depositoryAccounts(stranger?.address ?? "");
  const ofVault = Buffer.from([1, ...bytesOf(encodeAddress("solana-vm", vault))]);
  const undoVault = change(programData, (data) => data.fill(ofVault, IN.authority, 45));
  expect(faults(await examine({ roles: undefined }))).toEqual(["warning contract.upgrade-authority"]);
  const roles = { owner: at.owner.address, allocator: at.allocator.address, upgradeAuthority: vault };
  expect(faults(await examine({ roles }))).toEqual([]);
  undoVault();
});

test("trusts a quorum of the endpoints, and names the other endpoints", async () => {
  /** A front that shows a program which does not exist. */
  const lying = async (): Promise<SolanaFront> =>
    await startSolanaFront(node.url, {
      result: ({ method }, honest) =>
        method === "getMultipleAccounts"
          ? { ...(honest as object), value: (honest as { readonly value: unknown[] }).value.map(() => null) }
          : honest,
    });
  const honest = await startSolanaFront(node.url, {});
  const liars = await Promise.all([lying(), lying()]);
  const [first, second] = liars.map(({ url }) => new URL(url).host);
  try {
    const report = await examine({ urls: [liars[0]?.url ?? "", honest.url, node.url] });
    expect(report.filter(({ state }) => state !== "ok")).toMatchObject([
      {
        check: "contract.endpoint",
        subject: `depository on solana (${first})`,
        state: "warning",
        found: `there is no program at ${at.program}, unlike at 2 other endpoints`,
      },
    ]);
    const secondReport = await examine({ urls: [liars[0]?.url ?? "", liars[1]?.url ?? "", node.url] });
    expect(secondReport).toMatchObject([
      {
        check: "contract.code",
        state: "problem",
        found: `there is no program at ${at.program} (${first}, ${second})`,
      },
    ]);
  } finally {
    await Promise.all([honest, ...liars].map((front) => front.close()));
  }
});
