import { lighterEvidence } from "@causeway/chains/lighter";
import type { EvidenceSource, PaymentQuestion } from "@causeway/chains";
import { encodeLighterTransfer, type Hex32, type LighterTransfer } from "@causeway/domain";
import type { ConfiguredChain } from "@causeway/families";
import { startLighter, STATUS, type LighterWallet, type RunningLighter } from "@causeway/simulators/lighter";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";

// Lighter on the simulator, as an oracle sees it: agreement of several endpoints, and every outcome of a
// withdrawal.

const [DEPOSITORY, FORMER_DEPOSITORY, USER, STRANGER] = [
  460_491n,
  460_492n,
  123_456n,
  281_474_976_710_640n,
] as const;
const ID: Hex32 = `0x${"ab".repeat(32)}`;

let lighter: RunningLighter;
let depository: LighterWallet;
let former: LighterWallet;
let user: LighterWallet;
let apiKeyIndex = 2n;
const sources: EvidenceSource[] = [];

beforeAll(async () => {
  lighter = await startLighter();
  const rich = 10n ** 15n;
  depository = lighter.openWallet(DEPOSITORY, `0x${"01".repeat(32)}`, rich);
  former = lighter.openWallet(FORMER_DEPOSITORY, `0x${"02".repeat(32)}`, rich);
  user = lighter.openWallet(USER, `0x${"03".repeat(32)}`, rich);
  lighter.openWallet(STRANGER, `0x${"04".repeat(32)}`);
});
afterAll(async () => await lighter.close());

/** Each test withdraws with its own key, whose nonces start at zero. */
beforeEach(() => {
  depository.addKey((apiKeyIndex += 1n));
  lighter.exchange.pace = "executed";
  Object.assign(lighter.faults, { rewrite: undefined, broken: undefined, isBehind: false });
});
afterEach(async () => {
  for (const source of sources.splice(0)) await source.close();
});

const aChain = (changes: Partial<ConfiguredChain> = {}): ConfiguredChain => ({
  name: "lighter",
  vmType: "lighter-vm",
  rpcUrls: [lighter.url],
  rpcQuorum: 1,
  depository: `${DEPOSITORY}`,
  additionalDepositories: [`${FORMER_DEPOSITORY}`],
  hubChainId: "4004",
  evm: undefined,
  lighter: { explorerApiUrl: lighter.explorerUrl, exchangeChainId: 304n },
  ...changes,
});
function sourceOf(
  changes: Partial<ConfiguredChain> = {},
  options: Parameters<typeof lighterEvidence>[1] = {},
): EvidenceSource {
  const source = lighterEvidence(aChain(changes), options);
  sources.push(source);
  return source;
}

function aPayout(changes: Partial<LighterTransfer> = {}) {
  const transfer: LighterTransfer = {
    nonce: 0n,
    fromAccountIndex: DEPOSITORY,
    fromRouteType: 0n,
    apiKeyIndex: apiKeyIndex,
    toAccountIndex: USER,
    toRouteType: 0n,
    assetIndex: 3n,
    amount: 1_000_000n,
    usdcFee: 0n,
    lighterChainId: 304n,
    memo: ID,
    ...changes,
  };
  return { transfer, payload: encodeLighterTransfer(transfer) };
}
const statusOf = async (source: EvidenceSource, payload: `0x${string}`, hint?: string): Promise<unknown> => {
  const withdrawal = await source.withdrawal(payload, hint);
  return withdrawal.kind === "final" ? withdrawal.value.status : withdrawal.kind;
};
const deposit = async (amount = 5_000_000n): Promise<string> =>
  await user.send({ toAccountIndex: DEPOSITORY, amount, memo: ID });
/** Another transfer with the same key. */
const sendOtherTransfer = async (changes: Partial<LighterTransfer> = {}): Promise<string> =>
  await depository.send({ toAccountIndex: STRANGER, amount: 1n, apiKeyIndex: apiKeyIndex, ...changes });

test("reads an amount that does not fit into a double exactly", async () => {
  const hash = await deposit(9_007_199_254_740n);
  lighter.faults.rewrite = (_path, body) =>
    body.replace('Amount\\":9007199254740,', 'Amount\\":9007199254740993,');
  const deposits = await sourceOf().deposits(hash);
  expect(deposits).toMatchObject({
    kind: "final",
    value: { deposits: [{ amount: 9_007_199_254_740_993n }] },
  });
});

test("a transaction in a block is not final, and one that was reorged out with its block is refused", async () => {
  const source = sourceOf();
  lighter.exchange.pace = "queued";
  const hash = await deposit();
  expect(await source.deposits(hash)).toMatchObject({ kind: "notFinal", retryAfterSeconds: 2 });
  lighter.exchange.execute(hash);
  expect(await source.deposits(hash)).toMatchObject({ kind: "notFinal" });
  lighter.exchange.orphan(hash);
  expect(await source.deposits(hash)).toMatchObject({ kind: "refuted" });
});

test("lagging endpoints agree once they catch up, and endpoints that contradict each other are reported", async () => {
  const laggingEndpoint = await lighter.openEndpoint();
  const reported: unknown[] = [];
  const options = { onDisagreement: (disagreement: unknown) => void reported.push(disagreement) };
  const twoEndpoints = { rpcUrls: [lighter.url, laggingEndpoint.url], rpcQuorum: 2 };
  const source = sourceOf(twoEndpoints, options);
  await deposit();
  await fetch(`${laggingEndpoint.url}/info`);
  laggingEndpoint.faults.isBehind = true;
  const hash = await deposit();
  expect(await source.deposits(hash)).toMatchObject({ kind: "notFinal" });
  laggingEndpoint.faults.isBehind = false;
  expect(await source.deposits(hash)).toMatchObject({
    kind: "final",
    value: { depository: `${DEPOSITORY}` },
  });
  expect(reported).toEqual([]);

  const disputed = await deposit();
  laggingEndpoint.faults.rewrite = (_path, body) => body.replace('Amount\\":5000000,', 'Amount\\":5000001,');
  await expect(source.deposits(disputed)).rejects.toMatchObject({ kind: "inconsistent" });
  expect(reported).toHaveLength(1);
  expect(JSON.stringify(reported)).not.toContain("127.0.0.1");
});

test("two agreeing endpoints of three suffice, whatever the third answers", async () => {
  const [second, third] = [await lighter.openEndpoint(), await lighter.openEndpoint()];
  const source = sourceOf({ rpcUrls: [lighter.url, second.url, third.url], rpcQuorum: 2 });
  for (const broken of ["drop", "html", "error"] as const) {
    third.faults.broken = broken;
    expect(await source.deposits(await deposit())).toMatchObject({ kind: "final" });
  }
});

test("an endpoint of another network is not trusted", async () => {
  const facts = { explorerApiUrl: lighter.explorerUrl, exchangeChainId: 304n };
  const { contract } = lighter.exchange;
  const hash = await deposit();
  const rightNetwork = sourceOf({ lighter: { ...facts, exchangeContract: contract } });
  expect(await rightNetwork.deposits(hash)).toMatchObject({ kind: "final" });
  const recovering = sourceOf({ lighter: { ...facts, exchangeContract: contract } });
  lighter.faults.broken = "error";
  await expect(recovering.deposits(hash)).rejects.toMatchObject({ retryable: true });
  lighter.faults.broken = undefined;
  expect(await recovering.deposits(hash)).toMatchObject({ kind: "final" });
  const wrongNetwork = sourceOf({ lighter: { ...facts, exchangeContract: `0x${"99".repeat(20)}` } });
  await expect(wrongNetwork.deposits(hash)).rejects.toMatchObject({ kind: "wrongChain", retryable: false });
});

test("a transfer between the service's own accounts is neither a deposit nor a payment", async () => {
  const source = sourceOf();
  const sweep = await former.send({ toAccountIndex: DEPOSITORY, amount: 5n, memo: ID });
  expect(await source.deposits(sweep)).toMatchObject({ kind: "final", value: { deposits: [] } });
  const payout = await depository.send(aPayout().transfer);
  const question: PaymentQuestion = {
    orderId: ID,
    solver: `0x${"50".repeat(20)}`,
    deadline: 4_000_000_000,
    extraData: "0x",
    receipts: [{ recipient: `${USER}`, currency: "0" }],
    calls: [],
  };
  expect(await source.payments(payout, question)).toMatchObject({ kind: "refuted" });
});

test("reports a withdrawal as executed once its transfer is settled, whether or not the request names its transaction", async () => {
  const source = sourceOf();
  const { transfer, payload } = aPayout();
  expect(await statusOf(source, payload)).toBe("pending");
  lighter.exchange.pace = "committed";
  const hash = await depository.send(transfer);
  expect([await statusOf(source, payload), await statusOf(source, payload, hash)]).toEqual([
    "pending",
    "pending",
  ]);
  lighter.exchange.settle(hash);
  expect([await statusOf(source, payload), await statusOf(source, payload, hash)]).toEqual([
    "executed",
    "executed",
  ]);
});

test("attributes a withdrawal to the additional depository that paid it", async () => {
  former.addKey(apiKeyIndex);
  const { transfer, payload } = aPayout({ fromAccountIndex: FORMER_DEPOSITORY });
  await former.send(transfer);
  expect(await sourceOf().withdrawal(payload, undefined)).toMatchObject({
    kind: "final",
    value: { status: "executed", depository: `${FORMER_DEPOSITORY}` },
  });
});

test("does not treat an expired transaction as final, because the same content may be sent again with a new lifetime", async () => {
  const source = sourceOf();
  const { transfer, payload } = aPayout();
  lighter.exchange.pace = "queued";
  const expired = await depository.send(transfer);
  lighter.exchange.passTime(3_600_000);
  expect(await statusOf(source, payload, expired)).toBe("pending");
  lighter.exchange.execute(expired);
  expect(lighter.exchange.record(expired)?.status).toBe(STATUS.rejected);
  expect([await statusOf(source, payload), await statusOf(source, payload, expired)]).toEqual([
    "pending",
    "pending",
  ]);
  lighter.exchange.pace = "executed";
  const resent = await depository.send(transfer);
  expect(resent).not.toBe(expired);
  expect(await statusOf(source, payload)).toBe("executed");
  expect(await statusOf(source, payload, expired)).toBe("executed");
});

test("expires a withdrawal once another transfer has used its nonce", async () => {
  const source = sourceOf();
  const { transfer, payload } = aPayout();
  lighter.exchange.pace = "committed";
  const otherHash = await sendOtherTransfer();
  expect(await statusOf(source, payload)).toBe("pending");
  lighter.exchange.settle(otherHash);
  expect([await statusOf(source, payload), await statusOf(source, payload, otherHash)]).toEqual([
    "expired",
    "expired",
  ]);
  await expect(depository.send(transfer)).rejects.toThrow("invalid nonce");
  expect(await statusOf(source, payload)).toBe("expired");
});

test("expires a withdrawal that failed in a block once that block is settled and all later transfers are known", async () => {
  const source = sourceOf();
  const { transfer, payload } = aPayout();
  lighter.exchange.pace = "queued";
  const failed = await depository.send(transfer);
  lighter.exchange.fail(failed);
  expect(await statusOf(source, payload, failed)).toBe("pending");
  lighter.exchange.pace = "committed";
  const laterHash = await sendOtherTransfer();
  expect(await statusOf(source, payload)).toBe("pending");
  lighter.exchange.settle(laterHash);
  expect(await statusOf(source, payload)).toBe("expired");
  const withoutExplorer = sourceOf({ lighter: { explorerApiUrl: undefined, exchangeChainId: 304n } });
  expect(await statusOf(withoutExplorer, payload, failed)).toBe("pending");
});

test("an explorer that hides or invents transfers, or lags, can only keep a withdrawal pending", async () => {
  const { transfer, payload } = aPayout();
  lighter.exchange.pace = "queued";
  const rejected = await depository.send(transfer);
  lighter.exchange.reject(rejected);
  lighter.exchange.passTime(1_000);
  lighter.exchange.pace = "executed";
  const paidHash = await depository.send(transfer);
  await sendOtherTransfer();
  const rewriteLogs =
    (change: (lines: Record<string, unknown>[]) => unknown) => (path: string, body: string) =>
      path.startsWith("/explorer")
        ? JSON.stringify(change(JSON.parse(body) as Record<string, unknown>[]))
        : body;
  const lies = [
    rewriteLogs((lines) => lines.filter(({ hash }) => hash !== paidHash)),
    rewriteLogs((lines) =>
      lines.map((line) => (line["hash"] === paidHash ? { ...line, hash: "00".repeat(40) } : line)),
    ),
    rewriteLogs((lines) =>
      lines.filter(({ hash }) => hash !== paidHash).map((line) => ({ ...line, status: "failed" })),
    ),
    rewriteLogs(() => []),
  ];
  for (const lie of lies) {
    lighter.faults.rewrite = lie;
    const source = sourceOf();
    expect(await statusOf(source, payload)).toBe("pending");
    expect(await statusOf(source, payload, rejected)).toBe("pending");
    expect(await statusOf(source, payload, paidHash)).toBe("executed");
  }
  lighter.faults.rewrite = (path, body) => (path.startsWith("/explorer") ? "<html>" : body);
  await expect(sourceOf().withdrawal(payload, undefined)).rejects.toMatchObject({ kind: "garbage" });
});

test("without an explorer, finds an execution only if the request names its transaction", async () => {
  const withoutExplorer = sourceOf({ lighter: { explorerApiUrl: undefined, exchangeChainId: 304n } });
  const { transfer, payload } = aPayout();
  const hash = await depository.send(transfer);
  expect([await statusOf(withoutExplorer, payload), await statusOf(withoutExplorer, payload, hash)]).toEqual([
    "pending",
    "executed",
  ]);
  const next = aPayout({ nonce: 1n });
  const otherHash = await sendOtherTransfer();
  expect([
    await statusOf(withoutExplorer, next.payload),
    await statusOf(withoutExplorer, next.payload, otherHash),
  ]).toEqual(["pending", "expired"]);
});

test("a long history is searched page by page", async () => {
  const { transfer, payload } = aPayout();
  await depository.send(transfer);
  for (let count = 0; count < 120; count += 1) await sendOtherTransfer();
  expect(await statusOf(sourceOf(), payload)).toBe("executed");
  const onePage = sourceOf({}, { search: { maxPages: 1, maxConcurrent: 8 } });
  expect(await statusOf(onePage, payload)).toBe("pending");
});

test("a payload for one Lighter network is refused on a network with another chain id", async () => {
  const { payload } = aPayout({ lighterChainId: 300n });
  expect(await statusOf(sourceOf(), payload)).toBe("refuted");
});
