import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

export interface Anvil {
  readonly url: string;
  stop(): Promise<void>;
}

const startWithinMs = 15_000;

/**
 * The platform's executable, because the package's command is a wrapper that does not forward signals.
 */
function anvilBinary(): string {
  const require = createRequire(import.meta.url);
  const wrapper = createRequire(require.resolve("@foundry-rs/anvil/package.json"));
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const manifest = wrapper.resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/package.json`);
  return join(dirname(manifest), "bin", "anvil");
}

/**
 * Starts an EVM node on a port that the operating system chooses, mining each transaction immediately.
 *
 * @throws Error if it ended, or did not listen within 15 seconds
 */
export async function startAnvil(chainId: number): Promise<Anvil> {
  // The node writes to its home folder; a temporary one leaves nothing behind.
  const home = await mkdtemp(join(tmpdir(), "anvil-"));
  const options = `--host 127.0.0.1 --port 0 --chain-id ${chainId} --hardfork prague`;
  const node = spawn(anvilBinary(), options.split(" "), {
    env: { HOME: home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const endWithUs = (): void => void node.kill("SIGKILL");
  process.once("exit", endWithUs);
  const stop = async (): Promise<void> => {
    process.off("exit", endWithUs);
    if (node.exitCode === null && node.signalCode === null) {
      const exited = once(node, "exit");
      node.kill("SIGKILL");
      await exited;
    }
    await rm(home, { recursive: true, force: true });
  };

  const timer = setTimeout(() => node.kill("SIGKILL"), startWithinMs);
  try {
    for await (const line of createInterface({ input: node.stdout })) {
      const address = /^Listening on (127\.0\.0\.1:\d+)$/.exec(line)?.[1];
      if (address === undefined) continue;
      node.stdout.resume();
      return { url: `http://${address}`, stop };
    }
    throw new Error(`anvil did not listen within ${startWithinMs} ms (exit code ${node.exitCode})`);
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
