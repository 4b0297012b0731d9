import { transferCall } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import { localAccount } from "@causeway/localnet";
import { freePort, programCommand, startProcess, type RunningProcess } from "@causeway/testkit";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serializeTransaction } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";

// Signer processes that use one record one after the other, or concurrently by mistake.

const TOKEN = "t".repeat(32);
const USDC = `0x${"c0".repeat(20)}` as const;
const ALICE = `0x${"a1".repeat(20)}` as const;

let folder: string;
const running: Signer[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "causeway-record-"));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map(async (signer) => await signer.process.stop()));
  await rm(folder, { recursive: true });
});

interface Signer {
  readonly process: RunningProcess;
  /**
   * Requests the signature of a transfer.
   * @returns the status of the answer
   */
  transfer(nonce: number, usdc: bigint): Promise<number>;
  get(path: string): Promise<string>;
}

async function start(key: "solver" | "deployer", record = "record"): Promise<Signer> {
  const port = await freePort();
  const program = programCommand("apps/api/src/signer.ts");
  const currencies = [
    { address: NATIVE_CURRENCY, decimals: 18, maxPriceUsd: "1" },
    { address: USDC, decimals: 6, maxPriceUsd: "1" },
  ];
  const chains = [{ chainId: 10, maxFeePerGasGwei: "1", currencies }];
  const process = await startProcess({
    ...program,
    name: "signer",
    env: {
      ...program.env,
      ENVIRONMENT: "local",
      VAULT_SECRETS_DIR: join(folder, "none"),
      SOLVER_PRIVATE_KEY: localAccount(key).privateKey,
      ORDER_SIGNER_URL: `http://127.0.0.1:${port}`,
      ORDER_SIGNER_TOKEN: TOKEN,
      SIGNING_RULES: JSON.stringify({ key: "solver", transactionUsd: "100", dayUsd: "150", chains }),
      SIGNING_RECORD: join(folder, record),
    },
    logFile: join(folder, `${port}.log`),
    isReady: async (signal) =>
      (await fetch(`http://127.0.0.1:${port}/health/ready`, { signal })).status === 200,
  });
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const signer: Signer = {
    process,
    transfer: async (nonce, usdc) => {
      const fee = { gas: 60_000n, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };
      const call = transferCall(USDC, ALICE, usdc * 1_000_000n);
      const unsigned = serializeTransaction({ type: "eip1559", chainId: 10, nonce, ...fee, ...call });
      const body = JSON.stringify({ unsigned });
      const url = `http://127.0.0.1:${port}/v1/transactions`;
      return (await fetch(url, { method: "POST", headers, body })).status;
    },
    get: async (path) => await (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).text(),
  };
  running.push(signer);
  return signer;
}

test("a second signer does not start on a running signer's record, and the running one keeps signing", async () => {
  const first = await start("solver");
  expect(await first.transfer(0, 90n)).toBe(200);
  await expect(start("solver")).rejects.toThrow("record is used by another process");
  expect(await first.transfer(1, 50n)).toBe(200);
  expect(await first.transfer(2, 50n)).toBe(403);
  expect(JSON.parse(await first.get("/health/ready"))).toMatchObject({ checks: { signingRecord: "ok" } });
  expect(await first.get("/metrics")).toMatch(
    /causeway_signer_transactions_total\{result="refused",rule="day",service="causeway-signer"\} 1/,
  );
  // The signer fails instead of signing without its record.
  await rm(join(folder, "record"));
  expect(await first.transfer(3, 1n)).toBe(500);
  expect(JSON.parse(await first.get("/health/ready"))).toMatchObject({ ready: false });
});

test("counts the signatures of a replacement key from its first nonce", async () => {
  const former = await start("solver");
  expect(await former.transfer(0, 90n)).toBe(200);
  expect(await former.transfer(1, 50n)).toBe(200);
  former.process.kill("SIGKILL");
  await former.process.exited;
  const { address } = localAccount("solver");
  await expect(start("deployer")).rejects.toThrow(
    `counts the signatures of ${address.toLowerCase()}, not of`,
  );
  const replacement = await start("deployer", "own");
  expect(await replacement.transfer(0, 90n)).toBe(200);
  expect(await replacement.transfer(1, 90n)).toBe(403);
  // The former key's record is unchanged.
  expect(await (await start("solver")).transfer(2, 50n)).toBe(403);
});
