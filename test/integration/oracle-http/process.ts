import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";

const root = resolve(import.meta.dirname, "../../..");
const main = resolve(root, "apps/oracle/src/main.ts");

/** Starts the real oracle process with only these environment variables. */
export function startOracle(env: Readonly<Record<string, string>>) {
  const child: ChildProcess = spawn(process.execPath, ["-C", "source", main], {
    cwd: root,
    env: { PATH: process.env["PATH"] ?? "", HTTP_HOST: "127.0.0.1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  child.stdout?.on("data", (chunk) => (output += String(chunk)));
  child.stderr?.on("data", (chunk) => (errors += String(chunk)));
  const ended = new Promise<number | null>((resolveExit) => child.on("exit", (code) => resolveExit(code)));
  return {
    ended,
    output: () => output,
    errors: () => errors,
    /**
     * The URL on which the process listens.
     * @throws if the process ended instead
     */
    async url(): Promise<string> {
      for (;;) {
        const listeningUrl = /"event":"listening","url":"([^"]+)"/.exec(output)?.[1];
        if (listeningUrl !== undefined) return listeningUrl;
        if (child.exitCode !== null) throw new Error(`the oracle ended: ${output}${errors}`);
        await new Promise((next) => setTimeout(next, 20));
      }
    },
    async stop(): Promise<number | null> {
      child.kill("SIGTERM");
      return await ended;
    },
  };
}
