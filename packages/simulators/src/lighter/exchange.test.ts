import { lighterTransferText, type Hex32 } from "@causeway/domain";
import { afterAll, beforeAll, expect, test } from "vitest";
import { STATUS } from "./exchange.ts";
import { readExact } from "./exact-text.ts";
import { loadSigner } from "./signer.ts";
import { startLighter, type LighterWallet, type RunningLighter } from "./start-lighter.ts";

const ownerKey = (digit: string): Hex32 => `0x${digit.repeat(64)}`;
const MEMO: Hex32 = `0x${"ab".repeat(32)}`;

let lighter: RunningLighter;
let sender: LighterWallet;
let recipient: LighterWallet;

beforeAll(async () => {
  lighter = await startLighter();
  sender = lighter.openWallet(77n, ownerKey("1"), 1_000_000_000n);
  recipient = lighter.openWallet(90n, ownerKey("2"));
});
afterAll(async () => await lighter.close());

const get = async (path: string): Promise<Record<string, unknown>> =>
  readExact(await (await fetch(`${lighter.url}${path}`)).text()) as Record<string, unknown>;

test("executes a signed transfer, and its record contains the signed content", async () => {
  const signed = await sender.sign({ toAccountIndex: 90n, amount: 5n, usdcFee: 2n, memo: MEMO });
  expect(await lighter.send(signed.txInfo)).toBe(signed.hash);
  const record = await get(`/api/v1/tx?by=hash&value=${signed.hash}`);
  expect(record).toMatchObject({ code: 200n, type: 12n, status: 3n, account_index: 77n, nonce: 0n });
  expect(record["info"]).toBe(signed.txInfo);
  expect(lighter.exchange.ledger.balance(90n, 3n, 0n)).toBe(5n);
  expect(lighter.exchange.ledger.balance(77n, 3n, 0n)).toBe(999_999_993n);
  expect(await get("/api/v1/nextNonce?account_index=77&api_key_index=2")).toEqual({ code: 200n, nonce: 1n });
  const { accounts } = await get("/api/v1/account?by=index&value=77");
  expect(accounts).toMatchObject([{ l1_address: sender.l1Address, collateral: "999.999993" }]);
  const page = `${lighter.explorerUrl}/accounts/90/logs?pub_data_type=L2Transfer&limit=100&offset=0`;
  expect(await (await fetch(page)).json()).toMatchObject([{ hash: signed.hash, status: "executed" }]);
});

test("refuses the same requests as Lighter, and records nothing", async () => {
  const transfer = { toAccountIndex: 90n, amount: 5n };
  const recordsBefore = lighter.exchange.records.length;
  await expect(sender.send({ ...transfer, nonce: 9n })).rejects.toThrow("invalid nonce");
  await expect(sender.send({ ...transfer, expiredAt: 1_700_000_000_000n })).rejects.toThrow(
    "transaction expired",
  );
  await expect(sender.send({ ...transfer, amount: 10n ** 15n })).rejects.toThrow("not enough asset balance");
  await expect(sender.send({ ...transfer, toAccountIndex: 5n })).rejects.toThrow("account not found");
  const { txInfo } = await sender.sign(transfer);
  const refusals = [
    [txInfo.replace(/"L1Sig":"[^"]*"/, '"L1Sig":""'), "invalid l1 signature"],
    [txInfo.replace('"Memo":[0', '"Memo":[1'), "invalid l1 signature"],
    [txInfo.replace('"ApiKeyIndex":2', '"ApiKeyIndex":3'), "api key not found"],
    [txInfo.replace(/"Sig":"[^"]*"/, '"Sig":"AA=="'), "invalid signature"],
    [txInfo.replace('"Amount":5', '"Amount":0'), "invalid Amount"],
    ["no json", "invalid tx info"],
  ] as const;
  for (const [txInfoOrText, message] of refusals)
    await expect(lighter.send(txInfoOrText)).rejects.toThrow(message);
  expect(lighter.exchange.records).toHaveLength(recordsBefore);
});

test("a transfer between accounts of one owner needs only the API key's signature", async () => {
  lighter.openWallet(78n, ownerKey("1"));
  const { txInfo } = await sender.sign({ toAccountIndex: 78n, amount: 5n });
  await lighter.send(txInfo.replace(/"L1Sig":"[^"]*"/, '"L1Sig":""'));
  expect(lighter.exchange.ledger.balance(78n, 3n, 0n)).toBe(5n);
});

test("a transaction uses its nonce if a block contains it, even if it fails there, and a rejected transaction does not", async () => {
  const { exchange } = lighter;
  const transfer = { toAccountIndex: 90n, amount: 7n };
  const nonce = (): bigint | undefined => exchange.ledger.account(77n).keys.get(2n)?.nonce;
  exchange.pace = "queued";
  try {
    const before = nonce() ?? 0n;
    const paid = await sender.send(transfer);
    expect(exchange.record(paid)).toMatchObject({ status: STATUS.queued, blockHeight: 0 });
    exchange.execute(paid);
    expect(exchange.record(paid)?.status).toBe(STATUS.committed);
    exchange.settle(paid);
    expect(exchange.record(paid)?.status).toBe(STATUS.executed);
    expect(nonce()).toBe(before + 1n);

    const rejected = await sender.send(transfer);
    exchange.reject(rejected);
    expect(nonce()).toBe(before + 1n);

    exchange.passTime(1);
    const late = await sender.send(transfer);
    exchange.passTime(700_000);
    exchange.execute(late);
    expect(exchange.record(late)).toMatchObject({ status: STATUS.rejected, blockHeight: 0 });
    expect(nonce()).toBe(before + 1n);

    const failed = await sender.send(transfer);
    const balanceBefore = exchange.ledger.balance(90n, 3n, 0n);
    exchange.fail(failed);
    expect(exchange.record(failed)).toMatchObject({ status: STATUS.failed });
    expect(exchange.record(failed)?.blockHeight).toBeGreaterThan(0);
    expect(nonce()).toBe(before + 2n);
    expect(exchange.ledger.balance(90n, 3n, 0n)).toBe(balanceBefore);
  } finally {
    exchange.pace = "executed";
  }
});

test("endpoints fail, lie and lag independently of each other", async () => {
  const laggingEndpoint = await lighter.openEndpoint();
  const recordedHash = lighter.exchange.records[0]?.hash ?? "";
  const requestTransaction = async (hash: string): Promise<Response> =>
    await fetch(`${laggingEndpoint.url}/api/v1/tx?by=hash&value=${hash}`);
  expect((await requestTransaction(recordedHash)).status).toBe(200);
  laggingEndpoint.faults.isBehind = true;
  const fresh = await sender.send({ toAccountIndex: recipient.index, amount: 3n });
  expect(await (await requestTransaction(fresh)).json()).toEqual({
    code: 21_500,
    message: "transaction not found",
  });
  expect((await get(`/api/v1/tx?by=hash&value=${fresh}`))["code"]).toBe(200n);
  laggingEndpoint.faults.isBehind = false;
  laggingEndpoint.faults.rewrite = (_path, body) => body.replace('"status":3', '"status":2');
  expect(await (await requestTransaction(fresh)).json()).toMatchObject({ status: 2 });
  laggingEndpoint.faults.broken = "html";
  expect(await (await requestTransaction(fresh)).text()).toContain("<html>");
});

test("builds the same text for the owner's signature as Lighter's signer, except for the chain id", async () => {
  const signer = await loadSigner();
  const transfer = {
    fromAccountIndex: 100n,
    apiKeyIndex: 3n,
    toAccountIndex: 200n,
    assetIndex: 1n,
    fromRouteType: 1n,
    toRouteType: 1n,
    amount: 123_456n,
    usdcFee: 3_000_000n,
    memo: MEMO,
    nonce: 12n,
    expiredAt: 1_800_000_000_000n,
  };
  const signerText = signer.signTransfer(signer.generateKey().privateKey, 304n, transfer).messageToSign;
  const ownText = lighterTransferText({ ...transfer, lighterChainId: 304n });
  const withoutNumber = (text: string): string => text.replace(/chainId: 0x[0-9a-f]{16}/, "");
  expect(withoutNumber(signerText)).toBe(withoutNumber(ownText));
});
