import { localAccount } from "@causeway/localnet";
import { startRemoteSigner, type RunningRemoteSigner } from "@causeway/simulators/kms";
import { programCommand, startProcess } from "@causeway/testkit";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifyMessage, verifyTypedData, type Address, type Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { anAddress, startBridging, type Bridging } from "./bridging.ts";
import { portBaseOf } from "./port-bases.ts";

// The API has no key. Only the signer process signs orders, and the worker pays with keys in a vault.

const solver = localAccount("solver");
const executor = localAccount("executor");
let folder: string;
let signer: Awaited<ReturnType<typeof startSigner>>;
let vault: RunningRemoteSigner;
let bridging: Bridging;

const socket = (): string => join(folder, "signer.sock");

async function startSigner() {
  const program = programCommand("apps/api/src/signer.ts");
  return await startProcess({
    ...program,
    name: "signer",
    env: {
      ...program.env,
      ENVIRONMENT: "local",
      VAULT_SECRETS_DIR: join(folder, "none"),
      SOLVER_PRIVATE_KEY: solver.privateKey,
      ORDER_SIGNER_URL: `unix://${socket()}`,
    },
    logFile: join(folder, "signer.log"),
    isReady: async () =>
      await new Promise((resolve) => {
        const connection = createConnection(socket());
        connection.once("connect", () => resolve(connection.end() !== undefined));
        connection.once("error", () => resolve(false));
      }),
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "causeway-signer-"));
  [signer, vault] = await Promise.all([
    startSigner(),
    startRemoteSigner({ privateKeys: [solver.privateKey, executor.privateKey], credentials: "worker:pass" }),
  ]);
  const url = vault.url.replace("http://", "http://worker:pass@");
  bridging = await startBridging({
    portBase: portBaseOf("signers"),
    users: 3,
    appEnv: {
      SOLVER_PRIVATE_KEY: "",
      SOLVER_ADDRESS: solver.address,
      ORDER_SIGNER_URL: `unix://${socket()}`,
    },
    workerEnv: async () => ({
      SOLVER_SIGNER: `web3signer:${url}`,
      EXECUTOR_PRIVATE_KEY: "",
      EXECUTOR_SIGNER: `eth-rpc:${url}`,
    }),
  });
});
afterAll(async () => {
  await bridging.system.stop();
  await Promise.all([signer.stop(), vault.stop()]);
  await rm(folder, { recursive: true });
});

interface QuotedOrder {
  readonly requestId: Hex;
  readonly steps: readonly object[];
  readonly protocol: {
    readonly v2: {
      readonly orderId: Hex;
      readonly orderData: object;
      readonly orderSignature?: Hex;
      readonly orderTypedSignature?: { readonly signature: Hex };
    };
  };
  readonly message?: string;
  readonly errorCode?: string;
}

async function quote(user: number, recipient: Address) {
  const [origin, destination] = bridging.chains;
  return await bridging.api.call<QuotedOrder>("/quote/v2", {
    user: bridging.system.users[user]?.address,
    recipient,
    originChainId: origin?.id,
    destinationChainId: destination?.id,
    originCurrency: `0x${"00".repeat(20)}`,
    destinationCurrency: `0x${"00".repeat(20)}`,
    amount: (10n ** 16n).toString(),
    tradeType: "EXACT_INPUT",
    includeProtocolData: true,
  });
}

test("an API without a key returns signed orders, and a worker whose key is in a vault fills them", async () => {
  const [api] = bridging.system.apis;
  const environment = await readFile(`/proc/${api?.pid}/environ`, "utf8");
  for (const { privateKey } of [solver, executor]) expect(environment).not.toContain(privateKey.slice(2));
  expect((await stat(socket())).mode & 0o777).toBe(0o600);

  const recipient = anAddress();
  const { code, body } = await quote(0, recipient);
  expect(code).toBe(200);
  const { orderId, orderData, orderSignature = "0x", orderTypedSignature } = body.protocol.v2;
  const address = solver.address as Address;
  expect(await verifyMessage({ address, message: { raw: orderId }, signature: orderSignature })).toBe(true);
  const typed = { ...orderTypedSignature, message: orderData, address };
  expect(await verifyTypedData(typed as never)).toBe(true);
  const attestation = await bridging.api.call<{ signature: Hex }>(`/requests/${body.requestId}/signature`);
  expect(attestation.code).toBe(200);

  const bridge = await bridging.quote(0, recipient);
  await bridging.walletOf(0).execute(bridge);
  expect((await bridging.api.follow(bridge.requestId, 60_000)).at(-1)?.status).toBe("success");
  expect((await bridging.arrived(recipient)).payments).toBe(1);
  expect(vault.signed("sign")).toBeGreaterThan(0);
});

test("a payment waits while the vault fails, and is then made once", async () => {
  const recipient = anAddress();
  const bridge = await bridging.quote(1, recipient);
  const before = vault.signed("sign");
  vault.onSign(() => ({ answer: { status: 500, body: "sealed" } }));
  await bridging.walletOf(1).execute(bridge);
  await expect.poll(() => vault.signed("sign"), { timeout: 30_000 }).toBeGreaterThan(before + 1);
  expect(["success", "failure", "refund"]).not.toContain(
    (await bridging.api.status(bridge.requestId)).status,
  );
  expect((await bridging.arrived(recipient)).payments).toBe(0);
  vault.onSign(undefined);
  expect((await bridging.api.follow(bridge.requestId, 60_000)).at(-1)?.status).toBe("success");
  expect((await bridging.arrived(recipient)).payments).toBe(1);
});

test("without the signer process, only signed orders are unavailable; it can restart on its old socket", async () => {
  // A killed process leaves its socket file.
  signer.kill("SIGKILL");
  await signer.exited;
  const { code, body } = await quote(2, anAddress());
  expect([code, body.errorCode]).toEqual([503, "SERVICE_UNAVAILABLE"]);
  expect((await bridging.quote(2, anAddress())).requestId).toMatch(/^0x/);
  signer = await startSigner();
  expect((await quote(2, anAddress())).code).toBe(200);
});
