// Entry of `npm run bench:start -- --against FOLDER`: the cost of starting and running an oracle for EVM
// chains, compared with another checkout of this repository.
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { programOptions } from "../../scripts/program-options.ts";
import { freePort, repositoryRoot } from "@causeway/testkit";
import { localAccounts, hubContracts, localHub, nodeEnvironment } from "@causeway/localnet";
import { median } from "../median.ts";

const ROUNDS = 9;
/** Long enough for the first garbage collections. */
const SETTLE_MS = 2_000;
const MAX_CHANGE = 0.05;

interface StartCost {
  /** From the start of the process to the first answer of `/lives/v1`. */
  readonly readyMs: number;
  /** CPU time until then and until memory is read; less affected by other work on the machine. */
  readonly cpuMs: number;
  /** Resident memory shortly after that. */
  readonly residentMiB: number;
}

const usage = "usage: npm run bench:start -- --against FOLDER   (another checkout, installed)";
const against = programOptions(usage, (args) => {
  const { values } = parseArgs({ args: [...args], options: { against: { type: "string" } } });
  if (values.against === undefined) throw new RangeError("--against is required");
  return values.against;
});
process.exitCode = await compare(against);

async function compare(otherCheckout: string): Promise<number> {
  const ours: StartCost[] = [];
  const theirs: StartCost[] = [];
  // Alternates, so that other work on the machine affects both equally.
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await costOf(otherCheckout));
    ours.push(await costOf(repositoryRoot));
  }
  const rows = (["readyMs", "cpuMs", "residentMiB"] as const).map((figure) => {
    const [own, before] = [ours, theirs].map((costs) => median(costs.map((cost) => cost[figure])));
    return { figure, own: own ?? Number.NaN, before: before ?? Number.NaN };
  });
  let passed = true;
  for (const { figure, own, before } of rows) {
    const change = own / before - 1;
    const isWithin = change <= MAX_CHANGE;
    passed &&= isWithin;
    process.stdout.write(
      `${isWithin ? "PASS" : "MISS"}  ${figure}: ${before.toFixed(1)} there, ${own.toFixed(1)} here (${(change * 100).toFixed(1)} %, median of ${ROUNDS})\n`,
    );
  }
  return passed ? 0 : 1;
}

/** Starts a checkout's oracle with the two local EVM chains, which need not run, and stops it. */
async function costOf(folder: string): Promise<StartCost> {
  const port = await freePort();
  const [account] = localAccounts("oracle", 1);
  const hub = hubContracts({ signers: account === undefined ? [] : [account.address], threshold: 1 });
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, ["-C", "source", join(folder, "apps/oracle/src/main.ts")], {
    cwd: folder,
    stdio: "ignore",
    env: {
      ENVIRONMENT: "local",
      CONFIGS_DIR: join(folder, "configs"),
      HTTP_HOST: "127.0.0.1",
      HTTP_PORT: String(port),
      SIGNING_MODULE: "raw-private-key",
      ECDSA_PRIVATE_KEY: account?.privateKey,
      LOG_LEVEL: "error",
      ...nodeEnvironment({ portA: 1, portB: 2 }),
      HUB_RPC_URL: "http://127.0.0.1:3",
      HUB_CHAIN_ID: String(localHub.chainId),
      HUB_ADDRESS: hub.hub,
      HUB_ORACLE_ADDRESS: hub.oracle,
      HUB_ORACLE_MULTISIG_ADDRESS: hub.oracleMultisig,
      HUB_ALLOCATOR_ADDRESS: hub.allocator,
      NODE_COMPILE_CACHE: "",
    },
  });
  try {
    const deadline = AbortSignal.timeout(60_000);
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/lives/v1`).catch(() => undefined);
      if (answer?.status === 200) break;
      if (child.exitCode !== null) throw new Error(`oracle of ${folder} exited: ${child.exitCode}`);
      if (deadline.aborted) throw new Error(`oracle of ${folder} does not start`);
      await sleep(5);
    }
    const readyMs = performance.now() - startedAtMs;
    await sleep(SETTLE_MS);
    const status = await readFile(`/proc/${child.pid}/status`, "utf8");
    const residentKiB = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
    return { readyMs, cpuMs: await cpuMsOf(child.pid ?? 0), residentMiB: residentKiB / 1_024 };
  } finally {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  }
}

/**
 * Linux counts in hundredths of a second; the fields behind the name are counted from its closing bracket.
 */
async function cpuMsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
