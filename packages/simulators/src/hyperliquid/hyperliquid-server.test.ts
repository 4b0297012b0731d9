import { HttpTransport } from "@nktkas/hyperliquid";
import { sendAsset, spotSend, usdSend } from "@nktkas/hyperliquid/api/exchange";
import { txDetails, userDetails } from "@nktkas/hyperliquid/api/explorer";
import {
  clearinghouseState,
  spotClearinghouseState,
  spotMeta,
  userNonFundingLedgerUpdates,
} from "@nktkas/hyperliquid/api/info";
import { hyperliquidSigningProfiles, type Address } from "@causeway/domain";
import fc from "fast-check";
import { privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startHyperliquid, type RunningHyperliquid } from "./hyperliquid-server.ts";

// The names of the real Hyperliquid, so that its public SDK can sign.

const user = privateKeyToAccount(`0x${"01".repeat(32)}`);
const userAddress = user.address.toLowerCase() as Address;
const friend: Address = "0x00000000000000000000000000000000000000f1";
const USDC = "USDC:0x6d1e7cde53ba9467b783cb7c530ce054";
const HYPE = "HYPE:0x0d01dc56dcaaca66ad901c959b4011ec";
const START = 1_763_761_234_567;

let exchange: RunningHyperliquid;
let transport: HttpTransport;

beforeEach(async () => {
  exchange = await startHyperliquid({ profile: hyperliquidSigningProfiles.hyperliquid, now: () => START });
  transport = new HttpTransport({ apiUrl: exchange.url, rpcUrl: exchange.url });
  exchange.control.fund(userAddress, "100");
  exchange.control.fund(userAddress, "10", "USDC", "spot");
  exchange.control.fund(userAddress, "5", "HYPE", "spot");
});
afterEach(async () => await exchange.close());

type Body = Record<"action" | "signature", Record<string, unknown>> & Record<string, unknown>;

/** Signing and posting this many in sequence takes long on a busy machine. */
const LONG = { timeout: 60_000 };

/** Captures actions that the SDK signs instead of posting them. */
async function signedBySdk(): Promise<Body[]> {
  const bodies: Body[] = [];
  const recordingTransport = {
    isTestnet: false,
    request: async (_endpoint: string, body: unknown) => {
      bodies.push(structuredClone(JSON.parse(JSON.stringify(body)) as Body));
      return await Promise.resolve({ status: "ok", response: { type: "default" } });
    },
  } as unknown as HttpTransport;
  let next = START;
  const config = {
    transport: recordingTransport,
    wallet: user,
    signatureChainId: "0x66eee" as const,
    nonceManager: () => next++,
  };
  await usdSend(config, { destination: friend, amount: "1.25" });
  await spotSend(config, { destination: friend, token: HYPE, amount: "1.5" });
  await sendAsset(config, {
    destination: friend,
    sourceDex: "spot",
    destinationDex: "",
    token: USDC,
    amount: "2.5",
  });
  return bodies;
}

async function post(body: unknown): Promise<unknown> {
  const answer = await fetch(`${exchange.url}/exchange`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return answer.status === 200 ? await answer.json() : { status: answer.status };
}

const OK = { status: "ok", response: { type: "default" } };

test("accepts and executes actions signed by the public SDK", async () => {
  for (const body of await signedBySdk()) expect(await post(body)).toEqual(OK);
  expect(exchange.control.balance(friend)).toBe("3.75");
  expect(exchange.control.balance(friend, "HYPE", "spot")).toBe("1.5");
  expect(exchange.control.balance(userAddress)).toBe("98.75");
  expect(exchange.control.balance(userAddress, "USDC", "spot")).toBe("7.5");
});

test("the SDK can read their results: balances, ledger and explorer", async () => {
  for (const body of await signedBySdk()) await post(body);
  expect((await clearinghouseState({ transport }, { user: friend })).withdrawable).toBe("3.75");
  const { balances } = await spotClearinghouseState({ transport }, { user: friend });
  expect(balances).toEqual([{ ["coin"]: "HYPE", token: 150, total: "1.5", hold: "0.0", entryNtl: "0.0" }]);
  const { tokens } = await spotMeta({ transport });
  expect(tokens.map(({ name, szDecimals }) => `${name} ${szDecimals}`)).toEqual([
    "USDC 8",
    "PURR 0",
    "HYPE 2",
  ]);
  const updates = await userNonFundingLedgerUpdates({ transport }, { user: friend, startTime: START });
  expect(updates.map(({ delta }) => delta.type)).toEqual(["internalTransfer", "spotTransfer", "send"]);
  expect(updates[2]?.delta).toMatchObject({ user: userAddress, amount: "2.5", nonce: START + 2 });
  const { txs } = await userDetails({ transport }, { user: userAddress });
  expect(txs.map(({ action, error }) => ["type" in action && action.type, error])).toEqual([
    ["sendAsset", null],
    ["spotSend", null],
    ["usdSend", null],
  ]);
  const [last] = txs;
  expect(updates[2]?.hash).toBe(last?.hash);
  expect((await txDetails({ transport }, { hash: last!.hash })).tx).toEqual(last);
});

/** All other values to try for one field. */
function otherValues(value: unknown): unknown[] {
  if (typeof value === "number") return [value + 1, value - 1, value + 0.5, -value, `${value}`, null];
  if (typeof value !== "string") return [];
  const hex = /^0x[0-9a-f]+$/.test(value);
  const changed = value.split("").map((character, index) => {
    // All positions of a long value are equivalent, so a sample is enough.
    if (index > 6 && value.length > 42 && index % 4 > 0) return value;
    const other = hex && index > 1 ? ((Number.parseInt(character, 16) + 1) % 16).toString(16) : "7";
    return value.slice(0, index) + (character === other ? "8" : other) + value.slice(index + 1);
  });
  const shapes = [`${value}0`, `0${value}`, value.slice(0, -1), ` ${value}`, "", "0", "x", 0, null, [value]];
  return [...changed, ...shapes, ...(hex ? [value.toUpperCase(), `0x0${value.slice(2)}`] : [])].filter(
    (other) => other !== value,
  );
}

/** Every variant of the body with one thing changed, removed or added. */
function* mutations(body: Body): Generator<[what: string, body: unknown]> {
  const groups = [["action", body.action] as const, ["signature", body.signature] as const];
  for (const [group, fields] of groups) {
    for (const [name, value] of Object.entries(fields)) {
      for (const other of otherValues(value))
        yield [
          `${group}.${name} = ${JSON.stringify(other)}`,
          { ...body, [group]: { ...fields, [name]: other } },
        ];
      const { [name]: _gone, ...rest } = fields;
      yield [`${group} without ${name}`, { ...body, [group]: rest }];
    }
    yield [`${group} with another field`, { ...body, [group]: { ...fields, memo: "0x" } }];
    const { [group]: _gone, ...rest } = body;
    yield [`no ${group}`, rest];
  }
  for (const other of otherValues(body["nonce"]))
    yield [`nonce = ${String(other)}`, { ...body, nonce: other }];
  for (const type of ["usdSend", "spotSend", "sendAsset", "withdraw3", "constructor"])
    if (type !== body.action["type"])
      yield [`action.type = ${type}`, { ...body, action: { ...body.action, type } }];
  for (const network of ["Testnet", "mainnet", "Mainnet "])
    yield [`chain = ${network}`, { ...body, action: { ...body.action, hyperliquidChain: network } }];
  yield ["another field", { ...body, memo: 1 }];
  yield ["a vault", { ...body, vaultAddress: friend }];
  yield ["an expiry", { ...body, expiresAfter: START + 10_000 }];
}

test("refuses a signed action with any single field changed, and transfers nothing", LONG, async () => {
  let tried = 0;
  for (const body of await signedBySdk()) {
    for (const [what, changed] of mutations(body)) {
      tried += 1;
      expect(await post(changed), what).not.toEqual(OK);
    }
  }
  expect(tried).toBeGreaterThan(600);
  // Not even as failed attempts, since the recovered signers have no account.
  expect(exchange.control.transactions()).toEqual([]);
  expect(exchange.control.balance(userAddress)).toBe("100.0");
  expect(exchange.control.balance(userAddress, "USDC", "spot")).toBe("10.0");
  expect(exchange.control.balance(userAddress, "HYPE", "spot")).toBe("5.0");
  // The unchanged action is valid.
  for (const body of await signedBySdk()) expect(await post(body)).toEqual(OK);
});

test("refuses the high-s form of a signature", async () => {
  const [body] = await signedBySdk();
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const { s, v } = body!.signature as { s: `0x${string}`; v: number };
  const twin = { ...body!.signature, s: `0x${(order - BigInt(s)).toString(16)}`, v: 55 - v };
  expect(await post({ ...body, signature: twin })).toEqual({ status: "err", response: "Invalid signature" });
});

test("an action signed with the names of the other profile has no valid signer", async () => {
  const other = await startHyperliquid({ now: () => START });
  other.control.fund(userAddress, "100");
  for (const body of await signedBySdk()) {
    const answer = await fetch(`${other.url}/exchange`, { method: "POST", body: JSON.stringify(body) });
    expect(answer.status).toBe(422);
  }
  await other.close();
});

test(
  "accepts a nonce once, within its window, and above the lowest of the hundred highest",
  LONG,
  async () => {
    const DAY = 86_400_000;
    exchange.control.fund(userAddress, "1000");
    const send = async (nonce: number): Promise<unknown> =>
      await usdSend(
        { transport, wallet: user, signatureChainId: "0x1", nonceManager: () => nonce },
        { destination: friend, amount: "1" },
      ).catch((error: { readonly response: unknown }) => error.response);
    expect(await send(START)).toEqual(OK);
    expect(await send(START)).toMatchObject({
      status: "err",
      response: `Invalid nonce: duplicate nonce ${START}`,
    });
    for (const outside of [START - 2 * DAY, START + DAY])
      expect(await send(outside), `${outside}`).toMatchObject({ status: "err" });
    for (const inside of [START - 2 * DAY + 1, START + DAY - 1]) expect(await send(inside)).toEqual(OK);
    for (let n = 1; n <= 98; n++) await send(START + n * 10);
    // 101 nonces were used, so the lowest is no longer stored; it must not count as new.
    expect(await send(START - 2 * DAY + 1)).toMatchObject({ status: "err" });
    expect(await send(START - 5)).toMatchObject({
      status: "err",
      response: /below the 100 highest/ as never,
    });
    expect(await send(START + 5)).toEqual(OK);
  },
);

test("a failed transfer is in a block with its reason, transfers nothing, and can be posted again", async () => {
  const [body] = await signedBySdk();
  exchange.control.failNext("Insufficient margin");
  expect(await post(body)).toEqual({ status: "err", response: "Insufficient margin" });
  const { txs } = await userDetails({ transport }, { user: userAddress });
  expect(txs.map(({ error }) => error)).toEqual(["Insufficient margin"]);
  expect(exchange.control.balance(friend)).toBe("0.0");
  expect(await post(body)).toEqual(OK);
  expect(exchange.control.balance(friend)).toBe("1.25");
});

test("no account sends more than its balance, and the total stays the same", LONG, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 6_000 }), { minLength: 1, maxLength: 5 }),
      async (cents) => {
        const fresh = await startHyperliquid({
          profile: hyperliquidSigningProfiles.hyperliquid,
          now: () => START,
        });
        fresh.control.fund(userAddress, "100");
        const config = {
          transport: new HttpTransport({ apiUrl: fresh.url }),
          wallet: user,
          signatureChainId: "0x1" as const,
        };
        let nonce = START;
        let remainingCents = 10_000;
        for (const cent of cents) {
          const amount = (cent / 100).toFixed(2);
          const sent = await usdSend(
            { ...config, nonceManager: () => nonce++ },
            { destination: friend, amount },
          ).then(
            () => true,
            () => false,
          );
          expect(sent).toBe(cent <= remainingCents);
          if (sent) remainingCents -= cent;
        }
        const centsOf = (account: Address): number =>
          Math.round(Number(fresh.control.balance(account)) * 100);
        expect([centsOf(userAddress), centsOf(friend)]).toEqual([remainingCents, 10_000 - remainingCents]);
        await fresh.close();
      },
    ),
    { numRuns: 15 },
  );
});

test("returns 422 for a malformed request, and an explorer error for an unknown transaction", async () => {
  const request = async (path: string, body: unknown): Promise<Response> =>
    await fetch(`${exchange.url}/${path}`, { method: "POST", body: JSON.stringify(body) });
  expect((await request("info", { type: "nothing" })).status).toBe(422);
  expect((await request("info", [])).status).toBe(422);
  expect((await request("elsewhere", {})).status).toBe(404);
  const unknown = await request("explorer", { type: "txDetails", hash: `0x${"00".repeat(32)}` });
  expect(await unknown.json()).toMatchObject({ type: "error" });
});
