import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

export interface Anvil {
  readonly url: string;
  readonly wsUrl: string;
  stop(): Promise<void>;
}

/**
 * The platform's executable itself, because the package's command is a wrapper that does not forward signals.
 */
function anvilBinary(): string {
  const require = createRequire(import.meta.url);
  const wrapper = createRequire(require.resolve("@foundry-rs/anvil/package.json"));
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const manifest = wrapper.resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/package.json`);
  return join(dirname(manifest), "bin", "anvil");
}

/**
 * An EVM node that mines each transaction immediately, on a free port.
 *
 * @throws Error when it does not start
 */
export async function startAnvil(chainId: number): Promise<Anvil> {
  const home = await mkdtemp(join(tmpdir(), "anvil-"));
  const node = spawn(
    anvilBinary(),
    `--host 127.0.0.1 --port 0 --chain-id ${chainId} --hardfork prague`.split(" "),
    {
      env: { HOME: home },
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  const stop = async (): Promise<void> => {
    if (node.exitCode === null && node.signalCode === null) {
      const exited = once(node, "exit");
      node.kill("SIGKILL");
      await exited;
    }
    await rm(home, { recursive: true, force: true });
  };
  for await (const line of createInterface({ input: node.stdout })) {
    const address = /^Listening on (127\.0\.0\.1:\d+)$/.exec(line)?.[1];
    if (address === undefined) continue;
    node.stdout.resume();
    return { url: `http://${address}`, wsUrl: `ws://${address}`, stop };
  }
  await stop();
  throw new Error("anvil ended before it listened");
}
