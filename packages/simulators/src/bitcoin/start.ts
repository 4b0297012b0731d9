import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  newTempDir,
  onPort,
  programCommand,
  startProcess,
  systemPath,
  type RunningProcess,
} from "@causeway/testkit";
import { bitcoinControls, type BitcoinControls } from "./controls.ts";

export interface BitcoinOptions {
  /** On 127.0.0.1. Default: any free port. */
  readonly port?: number;
  readonly logFile?: string;
  readonly signal?: AbortSignal;
}

export interface RunningBitcoin {
  /** JSON-RPC URL of the node, with user and password. */
  readonly rpcUrl: string;
  /** Base URL of its explorer's REST API, compatible with Esplora. */
  readonly esploraUrl: string;
  readonly process: RunningProcess;
  readonly controls: BitcoinControls;
  stop(): Promise<void>;
}

/**
 * Starts a Bitcoin regtest node in its own process, with an explorer, blocks and funds. Consensus is bcoin's
 * of 2018, without Taproot: it can pay Taproot addresses, but does not verify who spends from them.
 *
 * @throws PortInUse, ProcessStartFailed
 */
export async function startBitcoin(options: BitcoinOptions = {}): Promise<RunningBitcoin> {
  const home = newTempDir("bitcoin");
  const removeHome = async (): Promise<void> => await rm(home, { recursive: true, force: true });
  const credentials = `local:${randomBytes(12).toString("hex")}`;
  try {
    return await onPort(options.port, async (port) => {
      const { command, args, cwd, env } = programCommand("packages/simulators/src/bitcoin/main.ts");
      const esploraUrl = `http://127.0.0.1:${port}/esplora`;
      const rpcUrl = `http://${credentials}@127.0.0.1:${port}`;
      const child = await startProcess({
        name: "bitcoin",
        command,
        args: [...args, String(port), credentials],
        cwd,
        env: { ...env, PATH: systemPath, HOME: home },
        logFile: options.logFile ?? join(home, "log"),
        isReady: async (signal) =>
          (await fetch(`${esploraUrl}/blocks/tip/height`, { signal })).status === 200,
        stopWithinMs: 3_000,
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
      const stop = async (): Promise<void> => {
        await child.stop();
        await removeHome();
      };
      try {
        return { rpcUrl, esploraUrl, process: child, controls: await bitcoinControls(rpcUrl), stop };
      } catch (error) {
        await stop();
        throw error;
      }
    });
  } catch (error) {
    await removeHome();
    throw error;
  }
}
