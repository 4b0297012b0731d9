import { repositoryRoot, workspaceNode } from "@causeway/testkit";
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { LoadOrder, LoadReport, LoadResult, SinglesResult } from "./load-orders.ts";

/** The load tool in its own process. Runs one order at a time. */
export interface LoadTool {
  load(order: Omit<LoadOrder & { kind: "load" }, "kind">): Promise<LoadResult>;
  singles(order: Omit<LoadOrder & { kind: "singles" }, "kind">): Promise<SinglesResult>;
  concurrent(order: Omit<LoadOrder & { kind: "concurrent" }, "kind">): Promise<SinglesResult>;
  stop(): Promise<void>;
}

/** The server under test did not answer every request with 200, so there is nothing to compare. */
export class LoadFailed extends Error {
  override readonly name = "LoadFailed";
  readonly code = "LOAD_FAILED";
}

/** Starts the tool on this process's core. It ends with this process. */
export function startLoadTool(signal: AbortSignal): LoadTool {
  const child = fork(fileURLToPath(new URL("./load-tool.ts", import.meta.url)), {
    cwd: repositoryRoot,
    execPath: workspaceNode,
    execArgv: ["-C", "source"],
    // Otherwise Ctrl-C would also reach the tool, which would exit before its parent has stopped the rest.
    detached: true,
  });
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
  });
  const kill = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });

  const runOrder = async (order: LoadOrder): Promise<LoadResult | SinglesResult> => {
    signal.throwIfAborted();
    const answer = await new Promise<LoadReport>((resolve, reject) => {
      const onExit = (): void => reject(new LoadFailed("load tool exited unexpectedly"));
      child.once("exit", onExit);
      child.once("message", (report: LoadReport) => {
        child.off("exit", onExit);
        resolve(report);
      });
      child.send(order);
    });
    if (answer.kind === "failed") throw new LoadFailed(`${order.url}: ${answer.reason}`);
    return answer.result;
  };
  return {
    load: async (order) => (await runOrder({ kind: "load", ...order })) as LoadResult,
    singles: async (order) => (await runOrder({ kind: "singles", ...order })) as SinglesResult,
    concurrent: async (order) => (await runOrder({ kind: "concurrent", ...order })) as SinglesResult,
    stop: async () => {
      signal.removeEventListener("abort", kill);
      kill();
      await exited;
    },
  };
}
