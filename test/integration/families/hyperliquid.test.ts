import { evidenceSources, RpcFault, type EvidenceSource, type NonceMappings } from "@causeway/chains";
import { signExchangeAction } from "@causeway/chains/hyperliquid";
import {
  encodeHyperliquidAction,
  hyperliquidSigningProfiles,
  MAINNET_USDC_TOKEN_ID,
  PERPS_CURRENCY,
  type Address,
  type HyperliquidTransferAction,
  type Hex,
  type Hex32,
} from "@causeway/domain";
import { startHyperliquid, type Lie, type RunningHyperliquid } from "@causeway/simulators/hyperliquid";
import { HttpTransport } from "@nktkas/hyperliquid";
import { sendAsset, usdSend } from "@nktkas/hyperliquid/api/exchange";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, expect, test } from "vitest";

// Attests what Hyperliquid's public SDK signs, with the real chain names of Hyperliquid.

const profile = hyperliquidSigningProfiles.hyperliquid;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const account = (number: number) => privateKeyToAccount(`0x${number.toString(16).padStart(64, "0")}`);
const depositoryKey: Hex32 = `0x${"72".padStart(64, "0")}`;
const [user, depositoryAccount] = [account(0x71), account(0x72)];
const userAddress = user.address.toLowerCase() as Address;
const depository = depositoryAccount.address.toLowerCase() as Address;
const friend: Address = `0x${"a1".repeat(20)}`;
const USDC = `USDC:${MAINNET_USDC_TOKEN_ID}`;

let exchange: RunningHyperliquid;
let closing: (() => Promise<void>)[];

beforeEach(async () => {
  exchange = await startHyperliquid({ profile });
  closing = [async () => await exchange.close()];
  for (const address of [userAddress, depository]) {
    exchange.control.fund(address, "1000");
    exchange.control.fund(address, "1000", "USDC", "spot");
  }
});
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
});

/** Another URL of the same simulator, which returns changed answers. */
async function startFront(lie: Lie): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const path = (request.url ?? "").slice(1) as Parameters<Lie>[0];
      const passOn = async (): Promise<void> => {
        const answer = await fetch(`${exchange.url}/${path}`, { method: "POST", body });
        const changed = lie(path, JSON.parse(body) as Record<string, unknown>, await answer.json());
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(changed));
      };
      passOn().catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function evidenceAt(
  urls: readonly string[],
  nonceMappings?: NonceMappings,
  onDisagreement?: () => void,
): Promise<EvidenceSource> {
  const chain = {
    name: "hyperliquid",
    vmType: "hyperliquid-vm" as const,
    rpcUrls: urls,
    rpcQuorum: urls.length,
    depository,
    additionalDepositories: [],
    hubChainId: "1337",
    evm: undefined,
    hyperliquid: {
      explorerUrls: urls,
      profile: "hyperliquid" as const,
      network: "Mainnet" as const,
      usdcTokenId: MAINNET_USDC_TOKEN_ID,
    },
  };
  const sources = await evidenceSources([chain], {
    ...(nonceMappings !== undefined && { nonceMappings }),
    ...(onDisagreement !== undefined && { onDisagreement }),
  });
  const source = sources.get(chain.name);
  if (source === undefined) throw new Error("no source");
  closing.push(async () => await source.close());
  return source;
}

const config = () => ({
  transport: new HttpTransport({ apiUrl: exchange.url, rpcUrl: exchange.url }),
  wallet: user,
  signatureChainId: "0xa4b1" as const,
});
const lastHash = (): Hex32 => exchange.control.transactions().at(-1)!.hash;

test("a transfer by Hyperliquid's public SDK is attested: amount, currency, and depositor", async () => {
  const source = await evidenceAt([exchange.url]);
  await usdSend(config(), { destination: depository, amount: "1.25" });
  const perps = { index: "0", depositor: userAddress, currency: PERPS_CURRENCY, depositId: undefined };
  expect(await source.deposits(lastHash())).toMatchObject({
    kind: "final",
    value: { depository, deposits: [{ ...perps, amount: 125_000_000n }] },
  });
  await sendAsset(config(), {
    destination: depository,
    sourceDex: "",
    destinationDex: "spot",
    token: USDC,
    amount: "0.00000001",
  });
  expect(await source.deposits(lastHash())).toMatchObject({
    kind: "final",
    value: { deposits: [{ ...perps, currency: MAINNET_USDC_TOKEN_ID, amount: 1n }] },
  });
});

test("credits the depositor that the wallet's nonce mapping names, under the mapped id", async () => {
  await usdSend(config(), { destination: depository, amount: "1" });
  const { time } = exchange.control.transactions().at(-1)!;
  const entry = { id: `0x${"ab".repeat(32)}` as Hex32, depositor: friend, setAt: BigInt(time) / 1_000n };
  const lookups: unknown[] = [];
  const source = await evidenceAt([exchange.url], {
    of: async (...question) => {
      lookups.push(question);
      return await Promise.resolve({ entry, asOf: entry.setAt });
    },
  });
  const deposits = await source.deposits(lastHash());
  expect(deposits).toMatchObject({ value: { deposits: [{ depositor: friend, depositId: entry.id }] } });
  const { action } = exchange.control.transactions().at(-1)!;
  expect(lookups).toEqual([["hyperliquid", userAddress, BigInt(action["time"] ?? 0)]]);
});

test("a transaction id in another than the canonical format is not looked up", async () => {
  const source = await evidenceAt([exchange.url]);
  await usdSend(config(), { destination: depository, amount: "1" });
  const bare = lastHash().slice(2);
  for (const format of [`0x${bare.toUpperCase()}`, `0X${bare}`, bare, `0x0${bare}`, ""])
    expect((await source.deposits(format)).kind, format).toBe("refuted");
  expect((await source.deposits(`0x${bare}`)).kind).toBe("final");
});

test("treats an unreachable hub as a fault, and never as a missing mapping", async () => {
  const unreachableHub: NonceMappings = {
    of: () => Promise.reject(new RpcFault({ kind: "network", method: "eth_call", reason: "no answer" })),
  };
  const source = await evidenceAt([exchange.url], unreachableHub);
  await usdSend(config(), { destination: depository, amount: "1" });
  await expect(source.deposits(lastHash())).rejects.toBeInstanceOf(RpcFault);
});

test("every oracle gives the same answer about an unmapped nonce, whatever its clock", async () => {
  await usdSend(config(), { destination: depository, amount: "1" });
  const { time } = exchange.control.transactions().at(-1)!;
  const latest = BigInt(time) / 1_000n + 3_600n;
  const kindAsOf = async (asOf: bigint) => {
    const source = await evidenceAt([exchange.url], {
      of: async () => await Promise.resolve({ entry: undefined, asOf }),
    });
    return (await source.deposits(lastHash())).kind;
  };
  expect([await kindAsOf(latest), await kindAsOf(latest + 1n)]).toEqual(["notFinal", "final"]);
});

/** A withdrawal that the depository signed: its payload, and a function that executes it. */
async function aWithdrawal(type: "usdSend" | "sendAsset" = "sendAsset") {
  const nonce = exchange.control.now();
  const common = { signatureChainId: "0x1" as Hex, hyperliquidChain: "Mainnet", destination: friend };
  const action: HyperliquidTransferAction =
    type === "usdSend"
      ? { type, ...common, amount: "2.5", time: nonce }
      : {
          type,
          ...common,
          sourceDex: "",
          destinationDex: "",
          token: USDC,
          amount: "2.5",
          fromSubAccount: "",
          nonce,
        };
  const shared = { chain: "Mainnet", destination: friend, amount: "2.5" };
  const payload = encodeHyperliquidAction(
    type === "usdSend"
      ? { type: "UsdSend", ...shared, time: BigInt(nonce) }
      : {
          type: "SendAsset",
          ...shared,
          sourceDex: "",
          destinationDex: "",
          token: USDC,
          fromSubAccount: "",
          nonce: BigInt(nonce),
        },
  );
  const signed = await signExchangeAction(profile, action, depositoryKey);
  const execute = async (): Promise<string> => {
    const answer = await fetch(`${exchange.url}/exchange`, { method: "POST", body: JSON.stringify(signed) });
    return await answer.text();
  };
  return { payload, execute };
}

const statusOf = async (source: EvidenceSource, payload: Hex, hint?: string): Promise<string> => {
  const withdrawal = await source.withdrawal(payload, hint);
  return withdrawal.kind === "final" ? withdrawal.value.status : withdrawal.kind;
};

test("finds an execution of any age in the ledger or by its transaction", async () => {
  const source = await evidenceAt([exchange.url]);
  for (const type of ["usdSend", "sendAsset"] as const) {
    const { payload, execute } = await aWithdrawal(type);
    expect(await statusOf(source, payload)).toBe("pending");
    await execute();
    expect(await statusOf(source, payload)).toBe("executed");
    expect(await statusOf(source, payload, lastHash())).toBe("executed");
    exchange.control.advance(9 * DAY_MS);
    expect(await statusOf(source, payload), `${type}, later`).toBe("executed");
  }
});

test("keeps a withdrawal pending after a failed attempt, and reports it executed after a successful one", async () => {
  const source = await evidenceAt([exchange.url]);
  const { payload, execute } = await aWithdrawal();
  exchange.control.failNext("Insufficient margin");
  expect(await execute()).toContain("Insufficient margin");
  expect(await statusOf(source, payload, lastHash())).toBe("pending");
  exchange.control.advance(2 * DAY_MS - 60_000);
  expect(await statusOf(source, payload)).toBe("pending");
  expect(await execute()).toContain("ok");
  expect(await statusOf(source, payload)).toBe("executed");
});

test("expires a withdrawal by Hyperliquid's clock once the indexes cover its signing window", async () => {
  const source = await evidenceAt([exchange.url]);
  const { payload, execute } = await aWithdrawal();
  exchange.control.advance(2 * DAY_MS);
  expect(await execute()).toContain("Invalid nonce");
  expect(await statusOf(source, payload)).toBe("pending");
  exchange.control.advance(HOUR_MS + 1_000);
  expect(await statusOf(source, payload)).toBe("expired");
});

test("one endpoint that hides an execution or has a fast clock cannot expire a withdrawal when two must agree", async () => {
  const { payload, execute } = await aWithdrawal();
  await execute();
  exchange.control.advance(3 * DAY_MS);
  const blindFront = await startFront((path, question, honest) => {
    if (question["type"] === "userNonFundingLedgerUpdates") return [];
    return path === "explorer" ? { type: "userDetails", txs: [] } : honest;
  });
  let reports = 0;
  const source = await evidenceAt([exchange.url, blindFront], undefined, () => (reports += 1));
  await expect(source.withdrawal(payload, undefined)).rejects.toBeInstanceOf(RpcFault);
  expect(reports).toBe(1);

  const open = await aWithdrawal();
  const endpointAhead = await startFront((_path, question, honest) =>
    question["type"] === "clearinghouseState"
      ? { ...(honest as object), time: exchange.control.now() + 9 * DAY_MS }
      : honest,
  );
  const quorumSource = await evidenceAt([exchange.url, endpointAhead]);
  expect(await statusOf(quorumSource, open.payload)).toBe("notFinal");
});

test("does not expire a withdrawal based on an incomplete ledger", async () => {
  const { payload } = await aWithdrawal();
  exchange.control.advance(3 * DAY_MS);
  const fullLedger = await startFront((_path, question, honest) =>
    question["type"] === "userNonFundingLedgerUpdates"
      ? Array.from({ length: 500 }, () => ({
          time: question["startTime"],
          hash: `0x${"11".repeat(32)}`,
          delta: { type: "deposit", usdc: "1.0" },
        }))
      : honest,
  );
  expect(await statusOf(await evidenceAt([fullLedger]), payload)).toBe("pending");
  expect(await statusOf(await evidenceAt([exchange.url]), payload)).toBe("expired");
});

test("treats a ledger with a transfer that the explorer does not show as a fault, not as an expiry", async () => {
  const { payload, execute } = await aWithdrawal();
  await execute();
  exchange.control.advance(3 * DAY_MS);
  const endpointWithoutDetails = await startFront((path, question, honest) => {
    if (path !== "explorer") return honest;
    return question["type"] === "txDetails"
      ? { type: "error", message: "not found" }
      : { type: "userDetails", txs: [] };
  });
  const source = await evidenceAt([endpointWithoutDetails]);
  await expect(source.withdrawal(payload, undefined)).rejects.toBeInstanceOf(RpcFault);
});

test("if the explorer refuses old data, the ledger decides", async () => {
  const { payload, execute } = await aWithdrawal();
  const endpointWithoutArchive = await startFront((_path, question, honest) =>
    question["type"] === "userDetails" ? { type: "error", message: "More than 100 archived blocks" } : honest,
  );
  const source = await evidenceAt([endpointWithoutArchive]);
  expect(await statusOf(source, payload)).toBe("pending");
  await execute();
  expect(await statusOf(source, payload)).toBe("executed");
});

test("does not expire a withdrawal while the explorer is down, because the ledger alone may be wrong", async () => {
  const { payload, execute } = await aWithdrawal();
  await execute();
  exchange.control.advance(3 * DAY_MS);
  const broken = await startFront((_path, question, honest) => {
    if (question["type"] === "userNonFundingLedgerUpdates") return [];
    return question["type"] === "userDetails" ? { type: "userDetails" } : honest;
  });
  const source = await evidenceAt([broken]);
  await expect(source.withdrawal(payload, undefined)).rejects.toBeInstanceOf(RpcFault);
});
