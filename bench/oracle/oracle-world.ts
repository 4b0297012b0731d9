import {
  freePort,
  repositoryRoot,
  startProcess,
  stopTogether,
  workspaceNode,
  type Stoppable,
} from "@causeway/testkit";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pin, type Cores } from "../cores.ts";
import type { LoadRequest } from "../load-orders.ts";
import type { Target } from "../world.ts";
import { ALDER, BIRCH, DEPOSITORY } from "./facts.ts";

/** One oracle alone on its core, a server to compare with, and a node that answers immediately. */
export interface OracleWorld extends Stoppable {
  readonly oracle: Target;
  /** Starts a server that answers each path with the oracle's answer to this request. */
  startBare(examples: readonly LoadRequest[]): Promise<Target>;
}

export interface OracleWorldOptions {
  /** Undefined: nothing is pinned. */
  readonly cores: Cores | undefined;
  /** The number of deposits and fills that the node knows. */
  readonly count: number;
  readonly signal: AbortSignal;
}

/** @throws ProcessStartFailed */
export async function startOracleWorld({ cores, count, signal }: OracleWorldOptions): Promise<OracleWorld> {
  const folder = await mkdtemp(join(tmpdir(), "causeway-bench-oracle-"));
  const toStop: Stoppable[] = [];
  const stop = async (): Promise<void> => {
    await stopTogether(toStop);
    await rm(folder, { recursive: true, force: true });
  };
  const start = async (
    name: string,
    script: string,
    args: readonly string[],
    env: Record<string, string>,
    port: number,
    path: string,
  ) => {
    const url = `http://127.0.0.1:${port}`;
    const running = await startProcess({
      name,
      command: workspaceNode,
      args: ["-C", "source", script, ...args],
      env,
      cwd: repositoryRoot,
      logFile: join(folder, `${name}.log`),
      isReady: async (readySignal) => (await fetch(`${url}${path}`, { signal: readySignal })).ok,
      readyWithinMs: 60_000,
      signal,
    });
    toStop.push(running);
    return { url, pid: running.pid };
  };
  const pathOf = (file: string): string => fileURLToPath(new URL(`./${file}`, import.meta.url));
  const onServerCore = (target: Target): Target => {
    if (cores !== undefined) pin(target.pid, cores.server);
    return target;
  };
  try {
    const [nodePort, oraclePort] = [await freePort(), await freePort()];
    const node = await start(
      "node",
      pathOf("fake-node.ts"),
      [String(nodePort), String(count)],
      {},
      nodePort,
      "/lives",
    );
    await writeConfiguration(folder, node.url);
    const env = {
      ENVIRONMENT: "bench",
      CONFIGS_DIR: folder,
      ECDSA_PRIVATE_KEY: `0x${"77".repeat(32)}`,
      HTTP_PORT: String(oraclePort),
      LOG_LEVEL: "error",
    };
    const entry = join(repositoryRoot, "apps/oracle/src/main.ts");
    const oracle = onServerCore(await start("oracle", entry, [], env, oraclePort, "/lives/v1"));
    return {
      oracle,
      startBare: async (examples) => {
        const answersFile = join(folder, "answers.json");
        const answers = await Promise.all(
          examples.map(async (example) => [example.path, await answerTo(oracle, example)]),
        );
        await writeFile(answersFile, JSON.stringify(Object.fromEntries(answers)));
        const port = await freePort();
        return onServerCore(
          await start("bare", pathOf("bare-oracle.ts"), [String(port), answersFile], {}, port, "/lives/v1"),
        );
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function answerTo({ url }: Target, { method, path, body }: LoadRequest): Promise<string> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}${path}`, { method, headers, body: body ?? null });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${text}`);
  return text;
}

async function writeConfiguration(folder: string, nodeUrl: string): Promise<void> {
  const chains = [ALDER, BIRCH].map(({ name, chainId }) => ({
    id: name,
    chainId,
    vmType: "ethereum-vm",
    httpRpcUrl: `${nodeUrl}/${name}`,
    depository: DEPOSITORY,
  }));
  // Deposits and fills do not read the hub.
  const hub = {
    id: "hub",
    httpRpcUrl: "http://127.0.0.1:1",
    chainId: 31_003,
    hubAddress: `0x${"0a".repeat(20)}`,
    oracleAddress: `0x${"0c".repeat(20)}`,
  };
  await writeFile(join(folder, "chains.bench.json"), JSON.stringify(chains));
  await writeFile(join(folder, "chains.hub.bench.json"), JSON.stringify([hub]));
}
