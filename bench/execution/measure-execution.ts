import { createLocalClient, stopTogether, type Stoppable } from "@causeway/testkit";
import { localAccountAbstraction, startSystem, type System } from "@causeway/localnet";
import { join } from "node:path";
import type { BenchOptions } from "../options.ts";
import { installBundler, startBundler, type Bundler } from "./bundler.ts";
import {
  contest,
  type Arena,
  type Contender,
  type ContenderFigures,
  type ContestOptions,
} from "./contest.ts";
import { watchInclusions } from "./inclusions.ts";
import { deployAccounts, handleOps, signOperation, type BenchAccount } from "./operations.ts";
import { toWireOperation } from "./wire-operation.ts";

export type ExecutionFigures =
  | { readonly kind: "measured"; readonly ours: ContenderFigures; readonly bundler: ContenderFigures }
  /** There is no bundler to compare with. */
  | { readonly kind: "skipped"; readonly reason: string };

const OURS = "POST /execute";
const BUNDLER = "bundler";
/** Empty blocks lower the base fee, and leave no tips that the next round would have to outbid. */
const EMPTY_BLOCKS = 40;
/**
 * Operations of a round: enough to fill several blocks. When all fit into one, both sides finish with the
 * same block, and the ratio compares only how long they waited for it.
 */
const OPERATIONS = 1_000;
const full: ContestOptions = { rounds: 4, operations: OPERATIONS, connections: 16, paced: 40, paceMs: 100 };
const quick: ContestOptions = { rounds: 2, operations: OPERATIONS, connections: 16, paced: 10, paceMs: 100 };

/**
 * Compares sponsored executions with a public ERC-4337 bundler: the same operations, entry point and node,
 * alternating between the two.
 */
export async function measureExecution(
  { portBase, isQuick }: Pick<BenchOptions, "portBase" | "isQuick">,
  env: Readonly<Record<string, string | undefined>>,
  onProgress: (text: string) => void,
  signal: AbortSignal,
): Promise<ExecutionFigures> {
  const toStop: Stoppable[] = [];
  try {
    const system = await startSystem({
      env,
      portBase,
      // Blocks keep their default interval: with a block per transaction, the side that sends more
      // transactions would have to read more blocks.
      oracles: 0,
      onProgress: onProgress,
      onUnexpectedExit: ({ name, logTail }) => onProgress(`${name} exited unexpectedly\n${logTail}`),
      signal,
    });
    toStop.push(system);
    const installed = await installBundler(join(system.folder, "..", "cache", "bundler"));
    if (installed.kind === "missing") return { kind: "skipped", reason: installed.reason };
    const node = nodeOf(system);
    const bundler = await startBundler(
      installed.program,
      node,
      join(system.folder, "logs", "bundler.log"),
      signal,
    );
    toStop.push(bundler);
    await system.sponsorship.funded;
    const options = isQuick ? quick : full;
    onProgress(`${options.operations} accounts deployed`);
    const accounts = await deployAccounts(node, options.operations);
    const watch = watchInclusions(node);
    toStop.push(watch);
    const client = createLocalClient(node);
    const arena: Arena = {
      watch,
      calm: async () => await client.mine({ blocks: EMPTY_BLOCKS }),
    };
    // Each operation of an account has its own nonce sequence, so that none waits for another.
    let nextKey = 1n;
    const keys = (): bigint => nextKey++;
    const contenders = [
      ourContender(system, accounts, keys),
      bundlerContender(system, bundler, accounts, keys),
    ];
    onProgress("warming up both");
    await contest(contenders, arena, { ...options, rounds: 2, paced: 1 });
    onProgress("measuring executions");
    const figures = await contest(contenders, arena, options);
    const figuresOf = (name: string): ContenderFigures =>
      figures.get(name) ?? { acceptedPerSecond: [], includedPerSecond: [], inclusionMs: [] };
    return { kind: "measured", ours: figuresOf(OURS), bundler: figuresOf(BUNDLER) };
  } finally {
    await stopTogether(toStop);
  }
}

function nodeOf({ nodes }: System): System["nodes"][number] {
  const [node] = nodes;
  if (node === undefined) throw new Error("the local system has no chain");
  return node;
}

function ourContender(system: System, accounts: readonly BenchAccount[], nextKey: () => bigint): Contender {
  const { chainId } = nodeOf(system);
  const { key } = system.sponsorship.apiKey;
  const [api] = system.apis;
  if (api === undefined) throw new Error("the local system has no API");
  const noFees = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
  return {
    name: OURS,
    prepare: async (count) =>
      await Promise.all(
        accounts.slice(0, count).map(async (account) => {
          const signed = await signOperation(chainId, account, nextKey(), noFees);
          const body = JSON.stringify({
            executionKind: "rawCalls",
            data: {
              chainId,
              to: localAccountAbstraction.entryPoint07,
              data: handleOps(signed),
              value: "0",
            },
            executionOptions: { referrer: "bench", subsidizeFees: true },
          });
          return {
            hash: signed.hash,
            send: async () => {
              const response = await fetch(`${api.url}/execute`, {
                method: "POST",
                headers: { "content-type": "application/json", "x-api-key": key },
                body,
              });
              const text = await response.text();
              if (response.status !== 200) throw new Error(`POST /execute: ${response.status} ${text}`);
            },
          };
        }),
      ),
  };
}

function bundlerContender(
  system: System,
  bundler: Bundler,
  accounts: readonly BenchAccount[],
  nextKey: () => bigint,
): Contender {
  const { chainId } = nodeOf(system);
  return {
    name: BUNDLER,
    prepare: async (count) => {
      const { maxFeePerGas, maxPriorityFeePerGas } = await bundler.gasPrice();
      // Twice the current price: blocks under load raise it during the round.
      const fees = {
        maxFeePerGas: BigInt(maxFeePerGas) * 2n,
        maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas),
      };
      return await Promise.all(
        accounts.slice(0, count).map(async (account) => {
          const signed = await signOperation(chainId, account, nextKey(), fees);
          const operation = toWireOperation(signed);
          return { hash: signed.hash, send: async () => await bundler.send(operation) };
        }),
      );
    },
  };
}
