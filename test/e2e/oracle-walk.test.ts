import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { repositoryRoot } from "@causeway/testkit";
import { runBridgeDemo, startSystem, type System } from "@causeway/localnet";
import { depositoryAbi } from "@causeway/contracts";
import { createWalletClient, encodeFunctionData, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { portBaseOf } from "./port-bases.ts";

const PAGE = join(repositoryRoot, "docs", "ORACLE.md");
/** The depository on local-a, as docs/ORACLE.md shows it. */
const DEPOSITORY = "0xBE1a86370EF893e948cb88F013b34fD6f86B926E";
const portBase = portBaseOf("oracle-walk");
let system: System;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "oracle-walk-"));
  system = await startSystem({ env: {}, portBase, oracles: 1, durable: false, users: 2, mixedMining: true });
  const [user, recipient] = system.users;
  if (user === undefined || recipient === undefined) throw new Error("the system has no users");
  // Makes the deposit that docs/ORACLE.md attests.
  await runBridgeDemo({
    apiUrl: system.endpoints.api.url,
    from: "local-a",
    to: "local-b",
    userKey: user.privateKey,
    recipient: recipient.address,
    amount: "10",
    print: () => undefined,
    deadlineMs: 30_000,
  });
  // Makes the depository emit a log that is not a deposit.
  const chain = system.endpoints.chains.find(({ id }) => id === 72100117);
  if (chain === undefined) throw new Error("the system has no chain local-a");
  const wallet = createWalletClient({
    account: privateKeyToAccount(user.privateKey),
    transport: http(chain.rpcUrl),
  });
  const handover = encodeFunctionData({ abi: depositoryAbi, functionName: "requestOwnershipHandover" });
  await wallet.sendTransaction({ chain: null, to: DEPOSITORY, data: handover });
  await waitForBlocks(3);
});

/**
 * Waits for `count` more blocks on the deposit's chain. The commands in docs/ORACLE.md request an attestation
 * immediately, so the deposit must already be final.
 */
async function waitForBlocks(count: number): Promise<void> {
  const rpcUrl = system.endpoints.chains.find(({ id }) => id === 72100117)?.rpcUrl;
  if (rpcUrl === undefined) throw new Error("the system has no chain local-a");
  const height = async (): Promise<number> => {
    const answer = await fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] }),
    });
    return Number(((await answer.json()) as { result: string }).result);
  };
  const lastHeight = (await height()) + count;
  while ((await height()) < lastHeight) await new Promise((resolve) => setTimeout(resolve, 100));
}

afterAll(async () => {
  await system.stop();
  await rm(folder, { recursive: true, force: true });
});

test("the commands in docs/ORACLE.md set up a quorum, a shadow oracle and a KMS key, exactly as written", async () => {
  const page = await readFile(PAGE, "utf8");
  const script = [...page.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, block]) => block).join("\n");
  // If a command fails, everything that it left running is killed.
  const scriptWithCleanup = `trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n${script}`;
  const endpoints = join(folder, "endpoints.json");
  await writeFile(endpoints, JSON.stringify(system.endpoints));
  const { stdout, stderr } = await promisify(execFile)(
    "bash",
    ["--noprofile", "--norc", "-euo", "pipefail", "-c", scriptWithCleanup],
    {
      cwd: repositoryRoot,
      env: { ...process.env, BASE: String(portBase), MINE: folder, ENDPOINTS: endpoints },
      timeout: 90_000,
    },
  );

  const codes = [...stdout.matchAll(/^HTTP (\d+)$/gm)].map(([, code]) => Number(code));
  expect(codes).toEqual([200, 401, 200, 200, 409, 200, 200, 200, 200, 200]);
  const signers = [...stdout.matchAll(/^x-attestation-signers: (\d)/gm)].map(([, count]) => Number(count));
  expect(signers, "alone, quorum, one of two left, the shadow three times, its peer, with a KMS key").toEqual(
    [1, 2, 1, 2, 2, 2, 1, 1],
  );
  expect(stdout).toMatch(/"multisig": \{\s*"isSigner": false,\s*"threshold": 1\s*\}/);
  expect(stdout).toContain('"shadow":true');
  expect(stdout).toContain(
    '"attestations":3,"local":{"ok":3,"alone":0,"failed":0,"mismatch":0,"pending":0},"agreement":1,' +
      `"peers":[{"name":"127.0.0.1:${portBase + 90}","answered":3,"failed":0,"diverged":0}]}`,
  );
  expect(stdout.trimEnd().split("\n").at(-1)).toBe("exit code 1");
  expect(stderr).toContain("ORACLE_SIGNERS must include the local signer");
  // The output must contain no secret of a peer or provider. The keys in docs/ORACLE.md are 64 hex
  // characters; all other strings of that length start with 0x.
  expect(stdout + stderr).not.toMatch(/(?<![0-9a-fx])[0-9a-f]{64}(?![0-9a-f])/);
}, 120_000);
