import {
  freePort,
  startProcess,
  workspaceNode,
  type NodeAddress,
  type RunningProcess,
} from "@causeway/testkit";
import { fundLocal, localAccount, localAccountAbstraction } from "@causeway/localnet";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseEther } from "viem";
import type { Hex, UserOperation } from "./wire-operation.ts";

/**
 * The bundler to compare with. Its license is the GPL, so this project does not depend on it: the bench
 * downloads it into its own cache and runs it as a process.
 */
const PACKAGE = "@pimlico/alto@0.0.20";
const INSTALL_WITHIN_MS = 240_000;

export interface Bundler {
  /** The gas price that it currently requires, in wei as hex. */
  gasPrice(): Promise<{ readonly maxFeePerGas: Hex; readonly maxPriorityFeePerGas: Hex }>;
  /** Resolves once the bundler has accepted the operation. @throws Error with the bundler's message */
  send(operation: UserOperation): Promise<void>;
  stop(): Promise<void>;
}

/** The path of the bundler's program, or why it is unavailable. */
export type InstalledBundler =
  | { readonly kind: "installed"; readonly program: string }
  | { readonly kind: "missing"; readonly reason: string };

/** Installs the bundler with npm, unless it is installed already. */
export async function installBundler(folder: string): Promise<InstalledBundler> {
  const program = join(folder, "node_modules/@pimlico/alto/esm/cli/alto.js");
  if (existsSync(program)) return { kind: "installed", program };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{"private":true}\n');
  try {
    await promisify(execFile)(
      "npm",
      ["install", PACKAGE, "--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund"],
      { cwd: folder, timeout: INSTALL_WITHIN_MS },
    );
  } catch (error) {
    return { kind: "missing", reason: error instanceof Error ? error.message.slice(0, 300) : String(error) };
  }
  return existsSync(program)
    ? { kind: "installed", program }
    : { kind: "missing", reason: `${PACKAGE} has no program at the expected place` };
}

/** Starts the bundler on a node with one executor, like the service, and otherwise with its defaults. */
export async function startBundler(
  program: string,
  node: NodeAddress,
  logFile: string,
  signal: AbortSignal,
): Promise<Bundler & { readonly process: RunningProcess }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const executor = localAccount("user", 30);
  const utility = localAccount("user", 31);
  await fundLocal(
    node,
    [executor, utility].map(({ address }) => ({ address, nativeWei: parseEther("1000") })),
  );
  const running = await startProcess({
    name: "bundler",
    command: workspaceNode,
    args: [
      program,
      "--entrypoints",
      localAccountAbstraction.entryPoint07,
      "--executor-private-keys",
      executor.privateKey,
      "--utility-private-key",
      utility.privateKey,
      "--rpc-url",
      node.url,
      "--port",
      String(port),
      "--safe-mode",
      "false",
      "--deploy-simulations-contract",
      "true",
      "--min-balance",
      "0",
      "--log-level",
      "warn",
    ],
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "/" },
    logFile,
    isReady: async () => (await call<readonly string[]>(url, "eth_supportedEntryPoints", [])).length > 0,
    readyWithinMs: 60_000,
    signal,
  });
  return {
    process: running,
    gasPrice: async () =>
      (
        await call<{ fast: { maxFeePerGas: Hex; maxPriorityFeePerGas: Hex } }>(
          url,
          "pimlico_getUserOperationGasPrice",
          [],
        )
      ).fast,
    send: async (operation) => {
      await call(url, "eth_sendUserOperation", [operation, localAccountAbstraction.entryPoint07]);
    },
    stop: async () => await running.stop(),
  };
}

async function call<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const answer = (await response.json()) as {
    readonly result?: T;
    readonly error?: { readonly message: string };
  };
  if (answer.result === undefined) throw new Error(`${method}: ${answer.error?.message ?? "no result"}`);
  return answer.result;
}
