import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { onPort } from "./free-port.ts";
import { newTempDir, systemPath } from "./paths.ts";
import { startProcess, type RunningProcess } from "./process.ts";

/** `local-b` of `configs/chains.local.json`. */
const OSAKA_CHAIN_ID = 72_100_228;

export interface AnvilOptions {
  readonly chainId: number;
  readonly port?: number;
  /** Seconds between blocks; fractions are allowed. Absent: each transaction is mined immediately. */
  readonly blockTimeSeconds?: number;
  /** Mine each transaction immediately, and also a block every `blockTimeSeconds`. */
  readonly mixedMining?: boolean;
  /** Number of funded accounts of the node's test mnemonic. Default: 10. */
  readonly accountCount?: number;
  /**
   * Default: Osaka on the second local chain, otherwise Prague, so that every local system and test with two
   * chains covers both.
   */
  readonly hardfork?: "prague" | "osaka";
  readonly extraArgs?: readonly string[];
  readonly logFile?: string;
  readonly signal?: AbortSignal;
}

export interface RunningAnvil {
  readonly url: string;
  readonly wsUrl: string;
  readonly chainId: number;
  readonly port: number;
  readonly process: RunningProcess;
  stop(): Promise<void>;
}

/**
 * Starts an EVM node with one hard fork. It serves HTTP and WebSocket on one port of 127.0.0.1.
 *
 * @throws PortInUse, ProcessStartFailed
 */
export async function startAnvil(options: AnvilOptions): Promise<RunningAnvil> {
  // The node stores old states in its home folder; its own home can be removed with it.
  const home = newTempDir("anvil");
  const removeHome = async (): Promise<void> => await rm(home, { recursive: true, force: true });
  try {
    return await onPort(options.port, async (port) => {
      const url = `http://127.0.0.1:${port}`;
      const readyFile = join(home, `${port}.json`);
      const node = await startProcess({
        name: `anvil ${options.chainId}`,
        command: anvilBinary(),
        args: [...anvilArgs(port, options), "--config-out", readyFile],
        env: { PATH: systemPath, HOME: home },
        cwd: home,
        logFile: options.logFile ?? join(home, "log"),
        // Written once the node owns the port: another node of the same chain could answer on it instead.
        isReady: async (signal) =>
          existsSync(readyFile) && (await fetchChainId(url, signal)) === options.chainId,
        pollIntervalMs: 5,
        stopWithinMs: 3_000,
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
      const stop = async (): Promise<void> => {
        await node.stop();
        await removeHome();
      };
      return { url, wsUrl: `ws://127.0.0.1:${port}`, chainId: options.chainId, port, process: node, stop };
    });
  } catch (error) {
    await removeHome();
    throw error;
  }
}

function anvilArgs(port: number, options: AnvilOptions): string[] {
  const fixed = `--host 127.0.0.1 --port ${port} --chain-id ${options.chainId} --silent`;
  return [
    ...fixed.split(" "),
    "--hardfork",
    options.hardfork ?? (options.chainId === OSAKA_CHAIN_ID ? "osaka" : "prague"),
    "--accounts",
    String(options.accountCount ?? 10),
    ...(options.blockTimeSeconds === undefined ? [] : ["--block-time", String(options.blockTimeSeconds)]),
    ...(options.mixedMining === true ? ["--mixed-mining"] : []),
    ...(options.extraArgs ?? []),
  ];
}

/**
 * The platform's binary itself: the package's command is a wrapper, which would receive the signals instead.
 */
function anvilBinary(): string {
  const here = createRequire(import.meta.url);
  const wrapper = createRequire(here.resolve("@foundry-rs/anvil/package.json"));
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  const folder = join(wrapper.resolve(`@foundry-rs/anvil-${process.platform}-${arch}/package.json`), "..");
  return join(folder, "bin", "anvil");
}

async function fetchChainId(url: string, signal: AbortSignal): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] }),
    signal,
  });
  const answer: unknown = await response.json();
  const result =
    typeof answer === "object" && answer !== null && "result" in answer ? answer.result : undefined;
  return Number(result);
}
