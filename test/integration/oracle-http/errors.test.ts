import { hubAlias, ownerAuthorizationHash, signPersonalMessage, withdrawalAddress } from "@causeway/attest";
import { RpcFault } from "@causeway/chains";
import { encodeEvmCallRequest } from "@causeway/domain";
import type { Hex } from "@causeway/domain";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import {
  account,
  aFill,
  DEPOSIT_TX,
  DEPOSITORY,
  owner,
  RECIPIENT,
  startWorld,
  USDC,
  word,
} from "../../support/oracle-world.ts";
import type { Answer, World, WorldOptions } from "../../support/oracle-world.ts";

const worlds: World[] = [];
async function aWorld(options: WorldOptions = {}): Promise<World> {
  const world = await startWorld(options);
  worlds.push(world);
  return world;
}
afterEach(async () => {
  await Promise.all(worlds.splice(0).map(async (world) => await world.close()));
});

const deposit = { chainId: "origin", transactionId: DEPOSIT_TX };
const face = ({ status, body }: Answer) => [status, body.code, body.field];

test.each<[string, unknown, string | undefined]>([
  ["a body that is not JSON", "{", undefined],
  ["an empty body", "", undefined],
  ["a list", [], "body"],
  ["nothing", {}, "chainId"],
  ["a number for a chain", { ...deposit, chainId: 1 }, "chainId"],
  ["a number for a transaction", { ...deposit, transactionId: 1 }, "transactionId"],
  ["a text for a flag", { ...deposit, requestPeerSignatures: "true" }, "requestPeerSignatures"],
  ["an unknown mode", { ...deposit, mode: "instant" }, "mode"],
  ["a transaction id in capitals", { ...deposit, transactionId: word("AB") }, "transactionId"],
  ["a bare transaction id", { ...deposit, transactionId: "11".repeat(32) }, "transactionId"],
  ["a transaction id with leading zeros cut off", { ...deposit, transactionId: "0x1" }, "transactionId"],
])("refuses %s with 400 invalid_request and the field", async (_what, body, field) => {
  const world = await aWorld();
  expect(face(await world.post("depository-deposits", body))).toEqual([400, "invalid_request", field]);
  expect(world.origin.readCount).toBe(0);
});

test("an unknown chain or transaction causes 400 not_found", async () => {
  const world = await aWorld();
  expect(face(await world.post("depository-deposits", { ...deposit, chainId: "mars" }))).toEqual([
    400,
    "not_found",
    "chainId",
  ]);
  expect(face(await world.post("depository-deposits", deposit))).toEqual([400, "not_found", "transactionId"]);
  for (const name of ["constructor", "__proto__", "toString"])
    expect(face(await world.post("depository-deposits", { ...deposit, chainId: name }))[1]).toBe("not_found");
});

test("a block that is not final causes 400 not_final with the time to retry", async () => {
  const world = await aWorld();
  world.origin.depositsOf.set(DEPOSIT_TX, {
    kind: "notFinal",
    reason: "block 5 is not final: needs 3 blocks more",
    retryAfterSeconds: 7,
  });
  const { status, body, headers } = await world.post("depository-deposits", deposit);
  expect([status, body.code, body.retryAfter, headers.get("retry-after")]).toEqual([
    400,
    "not_final",
    7,
    "7",
  ]);
});

test("a deposit that did not happen causes 400 rejected", async () => {
  const world = await aWorld();
  world.origin.depositsOf.set(DEPOSIT_TX, { kind: "refuted", reason: "transaction failed" });
  expect(face(await world.post("depository-deposits", deposit))).toEqual([400, "rejected", "transactionId"]);
});

test("a node's fault causes 503 without the node's error text, and never a 400", async () => {
  const world = await aWorld();
  world.origin.trouble = async () => {
    throw new RpcFault({
      kind: "http",
      method: "eth_getTransactionReceipt",
      reason: "status 500 of http://user:hunter2@node.test/v3/projectkey",
    });
  };
  const { status, body, text, headers } = await world.post("depository-deposits", deposit);
  expect([status, body.code, body.retryAfter, headers.get("retry-after")]).toEqual([
    503,
    "upstream_unavailable",
    1,
    "1",
  ]);
  expect(text).not.toMatch(/hunter2|projectkey|node\.test|eth_/);
  expect(world.outcomes.at(-1)?.outcome).toBe("upstream_unavailable");
});

test("times out a node that hangs before the peers' timeout", async () => {
  const world = await aWorld({ localDeadlineMs: 100 });
  world.origin.trouble = async () => await new Promise(() => undefined);
  expect(face(await world.post("depository-deposits", deposit)).slice(0, 2)).toEqual([
    503,
    "upstream_unavailable",
  ]);
});

test("an internal bug causes 500 internal without any details", async () => {
  const world = await aWorld();
  world.origin.trouble = async () => {
    throw new TypeError("cannot read secretField of undefined");
  };
  const { status, body, text } = await world.post("depository-deposits", deposit);
  expect([status, body]).toEqual([500, { message: "internal error", code: "internal" }]);
  expect(text).not.toContain("secretField");
});

test("a chain of a family that this build does not support is reported as unavailable, and not as unknown", async () => {
  const world = await aWorld();
  const transactionId =
    "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW";
  expect(face(await world.post("depository-deposits", { chainId: "solana", transactionId }))).toEqual([
    503,
    "upstream_unavailable",
    undefined,
  ]);
});

test("unknown paths and wrong methods, types and sizes get errors in the same format", async () => {
  const world = await aWorld();
  const missing = await world.get("/attestations/depository-deposits/v2");
  expect([missing.status, missing.body.code, missing.body.error]).toEqual([404, "not_found", "Not Found"]);
  const method = await world.get("/attestations/depository-deposits/v1");
  expect([method.status, method.headers.get("allow")]).toEqual([405, "POST"]);
  const type = await world.post("depository-deposits", "chainId=origin", { "content-type": "text/plain" });
  expect([type.status, type.body.code]).toEqual([415, "invalid_request"]);
  const large = await world.post("depository-deposits", { ...deposit, more: "x".repeat(1024 * 1024) });
  expect([large.status, large.body.code]).toEqual([413, "invalid_request"]);
  const below = await world.post("depository-deposits", { ...deposit, more: "x".repeat(1024 * 1000) });
  expect(below.body.code).toBe("not_found");
});

test("the lives route needs no key, and reveals nothing", async () => {
  const world = await aWorld({ apiKeys: new Map([["k", "l"]]) });
  expect((await world.get("/lives/v1")).text).toBe('{"status":"ok"}');
  expect((await world.get("/lives/v1?withReport=1")).status).toBe(200);
});

const keys = new Map([
  ["first-key", "first caller"],
  ["second-key", "second: caller"],
]);

test("with keys set, every route except lives and the documentation needs one", async () => {
  const world = await aWorld({ apiKeys: keys });
  for (const path of [
    "/chains/v1",
    "/shadow/v1/report",
    "/status/v1",
    "/metrics",
    "/livesX",
    "/lives/v2",
    "/documentationX",
    "/documentation/nothing",
    "/",
  ]) {
    const { status, body } = await world.get(path);
    expect([path, status, body.error, body.code]).toEqual([path, 401, "Unauthorized", "unauthorized"]);
  }
  for (const path of ["/lives/v1", "/documentation/json"])
    expect([path, (await world.get(path)).status]).toEqual([path, 200]);
  expect((await world.post("depository-deposits", deposit)).status).toBe(401);
  for (const key of keys.keys())
    expect((await world.post("depository-deposits", deposit, { "x-api-key": key })).status).toBe(400);
  expect((await world.get("/metrics", { "x-api-key": "first-key" })).text).toContain("http_request_duration");
});

test.each([
  "constructor",
  "toString",
  "__proto__",
  "hasOwnProperty",
  "first-ke",
  "first-key ",
  "FIRST-KEY",
  "",
])("matches no key with %j, apart from surrounding whitespace", async (key) => {
  const world = await aWorld({ apiKeys: keys });
  const answer = await world.get("/chains/v1", { "x-api-key": key });
  // Whitespace around a header's value is not part of the value.
  expect(answer.status).toBe(key.trim() === "first-key" ? 200 : 401);
});

test("an address that sends many wrong keys gets 429, and valid keys still work from that address", async () => {
  const world = await aWorld({ apiKeys: keys });
  const status = async (key: string) => (await world.get("/chains/v1", { "x-api-key": key })).status;
  for (let n = 0; n < 30; n++) expect(await status(`guess-${n}`)).toBe(401);
  const refused = await world.get("/chains/v1", { "x-api-key": "guess-30" });
  expect([refused.status, refused.body.code]).toEqual([429, "rate_limited"]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(50);
  for (const key of ["first-key", "second-key"]) expect(await status(key)).toBe(200);
  expect((await world.get("/chains/v1")).status).toBe(401);
});

test("a key with too many calls in progress gets 429 until one of them ends, and other keys are not affected", async () => {
  const world = await aWorld({ apiKeys: keys, callBounds: { perCaller: 2, total: 3 } });
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  world.origin.trouble = async () => await held;
  const ask = async (key: string, place: string) =>
    await world.post("depository-deposits", { ...deposit, transactionId: word(place) }, { "x-api-key": key });
  const first = [ask("first-key", "01"), ask("first-key", "02")];
  await expect.poll(() => world.origin.readCount).toBe(2);
  const refused = await ask("first-key", "03");
  expect([...face(refused).slice(0, 2), refused.headers.get("retry-after")]).toEqual([
    429,
    "rate_limited",
    "1",
  ]);
  const second = ask("second-key", "04");
  await expect.poll(() => world.origin.readCount).toBe(3);
  const busy = await ask("second-key", "05");
  expect([...face(busy).slice(0, 2), busy.headers.get("retry-after")]).toEqual([503, "overloaded", "1"]);
  release();
  await Promise.all([...first, second]);
  expect((await ask("first-key", "06")).body.code).toBe("not_found");
});

test("frees a caller's slot only when the work ends, even after the deadline or a hang-up", async () => {
  const world = await aWorld({ localDeadlineMs: 50, callBounds: { perCaller: 1 } });
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  world.origin.trouble = async () => await held;
  expect((await world.post("depository-deposits", deposit)).body.code).toBe("upstream_unavailable");
  expect((await world.post("depository-deposits", deposit)).body.code).toBe("rate_limited");
  // If no key is required, unknown keys get no slots of their own.
  const other = await world.post("depository-deposits", deposit, { "x-api-key": "made-up" });
  expect(other.body.code).toBe("rate_limited");
  release();
  await expect
    .poll(async () => (await world.post("depository-deposits", deposit)).body.code)
    .toBe("not_found");
});

test("nothing is signed after the deadline of a request has passed", async () => {
  // The deadline suffices for the signatures even on a busy machine.
  const world = await aWorld({ localDeadlineMs: 1_000 });
  world.origin.addDeposits(DEPOSIT_TX, [{ depositId: word("0a") }]);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  world.origin.trouble = async () => await held;
  expect((await world.post("depository-deposits", deposit)).status).toBe(503);
  release();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(world.signatures.count).toBe(0);
  world.origin.trouble = undefined;
  expect((await world.post("depository-deposits", deposit)).status).toBe(200);
  expect(world.signatures.count).toBe(2);
});

test("treats a request with two keys as one without a key", async () => {
  const world = await aWorld({ apiKeys: keys });
  const { port, hostname } = new URL(world.url);
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(
        "GET /chains/v1 HTTP/1.1\r\nhost: x\r\nx-api-key: first-key\r\nx-api-key: second-key\r\nconnection: close\r\n\r\n",
      ),
    );
    let text = "";
    socket.on("data", (chunk) => (text += String(chunk)));
    socket.on("end", () => resolve(text));
    socket.on("error", reject);
  });
  expect(answer).toMatch(/^HTTP\/1\.1 401/);
});

test("does not read the body of a request without a key", async () => {
  const world = await aWorld({ apiKeys: keys });
  const { status, body } = await world.post("depository-deposits", "{ not json");
  expect([status, body.code]).toEqual([401, "unauthorized"]);
});

test("metrics are public if the operator configures it", async () => {
  const world = await aWorld({ apiKeys: keys, metricsOpen: true });
  expect((await world.get("/metrics")).status).toBe(200);
});

const addressRequest = {
  chainId: "origin",
  currency: USDC,
  withdrawer: account("a7"),
  withdrawerChainId: "destination",
  recipient: RECIPIENT,
  withdrawalNonce: word("66"),
};

const addressOf = (changes: object = {}): bigint => {
  const fields = { ...addressRequest, ...changes };
  return BigInt(
    withdrawalAddress(
      { name: "origin", vmType: "ethereum-vm" },
      {
        depository: DEPOSITORY,
        currency: fields.currency,
        recipient: fields.recipient,
        ownerAlias: hubAlias({ name: "destination", vmType: "ethereum-vm" }, fields.withdrawer),
        nonce: fields.withdrawalNonce,
      },
    ),
  );
};

const payloadWith = (nonce: bigint): Hex =>
  encodeEvmCallRequest({
    calls: [{ to: RECIPIENT, data: "0x", value: 50n, allowFailure: false }],
    nonce,
    expiration: 9_000n,
  });

function withdrawal(world: World, changes: object = {}, request: object = {}) {
  const payload = (request as { withdrawal?: Hex }).withdrawal ?? payloadWith(addressOf());
  world.origin.withdrawals.set(payload, {
    kind: "final",
    value: {
      withdrawalId: word("77"),
      depository: DEPOSITORY,
      status: "executed",
      recipient: RECIPIENT,
      currency: USDC,
      amount: 50n,
      ...changes,
    },
  });
  return world.post("depository-withdrawals", {
    chainId: "origin",
    withdrawal: payload,
    withdrawalAddressRequest: addressRequest,
    ...request,
  });
}

test("an executed payload settles only the withdrawal that it pays", async () => {
  const world = await aWorld({ hub: { allocatorAddress: undefined } });
  expect((await withdrawal(world)).status).toBe(200);
  expect(face(await withdrawal(world, { recipient: account("b3") }))).toEqual([
    400,
    "rejected",
    "withdrawalAddressRequest.recipient",
  ]);
  expect(face(await withdrawal(world, { currency: account("c2") }))[2]).toBe(
    "withdrawalAddressRequest.currency",
  );
  expect(
    face(
      await withdrawal(
        world,
        {},
        { withdrawalAddressRequest: { ...addressRequest, chainId: "destination" } },
      ),
    ),
  ).toEqual([400, "invalid_request", "withdrawalAddressRequest.chainId"]);
});

test("without recorded payloads, attests executions but never expiries", async () => {
  const world = await aWorld({ hub: { allocatorAddress: undefined } });
  expect(face(await withdrawal(world, { status: "expired" }))[1]).toBe("rejected");
  expect((await withdrawal(world, { status: "executed" })).status).toBe(200);
});

test("without a record, requires the withdrawal's address as the payload's nonce, so that one payment settles one withdrawal", async () => {
  const world = await aWorld({ hub: { allocatorAddress: undefined } });
  const statusAnswer = async (payload: Hex, changes: object = {}) =>
    face(
      await withdrawal(
        world,
        {},
        { withdrawal: payload, withdrawalAddressRequest: { ...addressRequest, ...changes } },
      ),
    ).slice(0, 2);
  const own = payloadWith(addressOf());
  expect(await statusAnswer(own)).toEqual([200, undefined]);
  const refused = [400, "rejected"];
  expect(await statusAnswer(own, { withdrawalNonce: word("67") })).toEqual(refused);
  expect(await statusAnswer(own, { withdrawer: account("a8") })).toEqual(refused);
  expect(await statusAnswer(payloadWith(addressOf() + 1n))).toEqual(refused);
  expect(await statusAnswer(payloadWith(addressOf() + (1n << 160n)))).toEqual(refused);
  expect(await statusAnswer("0xabcd")).toEqual(refused);
  expect(world.signatures.count).toBe(2);
});

test("refuses to reserve a withdrawal on a chain whose withdrawals this oracle cannot attest", async () => {
  const world = await aWorld();
  world.balances.get = () => 50n;
  const request = {
    settlementChainId: "hub",
    expectedAmount: "50",
    chainId: "solana",
    currency: "11111111111111111111111111111111",
    withdrawer: owner.address,
    withdrawerChainId: "origin",
    recipient: "11111111111111111111111111111112",
    withdrawalNonce: word("66"),
  };
  const hash = ownerAuthorizationHash({
    operation: "withdrawal",
    chainId: request.chainId,
    currency: request.currency,
    amount: request.expectedAmount,
    ownerChainId: request.withdrawerChainId,
    owner: request.withdrawer,
    recipient: request.recipient,
    nonce: request.withdrawalNonce,
    settlementChainId: "hub",
    settlementNetwork: String(world.hub.chainId),
    depository: "99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2",
    oracleContract: world.hub.oracleAddress,
  });
  const { settlementChainId: _, expectedAmount: __, ...withdrawalAddressRequest } = request;
  const answers = [
    await world.post("withdrawal-initiation", {
      ...request,
      signature: await signPersonalMessage(owner, hash),
    }),
    await world.post("withdrawal-initiated", request),
    await world.post("depository-withdrawals", {
      chainId: "solana",
      withdrawal: "0x00",
      withdrawalAddressRequest,
    }),
  ];
  for (const answer of answers) expect(face(answer)).toEqual([503, "upstream_unavailable", undefined]);
  expect(world.signatures.count).toBe(0);
});

test("with a recorded payload, attests only the outcome of that payload", async () => {
  const world = await aWorld();
  for (const status of ["executed", "expired"]) {
    expect(face(await withdrawal(world, { status }))[1]).toBe("rejected");
    const record = (id: string) => {
      world.recorded.get = () => id as `0x${string}`;
    };
    record(word("78"));
    expect(face(await withdrawal(world, { status }))[1]).toBe("rejected");
    record(word("77"));
    expect((await withdrawal(world, { status })).status).toBe(200);
    world.recorded.get = () => undefined;
  }
});

test("a caller's transaction id never changes what is signed", async () => {
  const world = await aWorld({ hub: { allocatorAddress: undefined } });
  const plain = await withdrawal(world);
  const hinted = await withdrawal(world, {}, { transactionId: word("99") });
  // Signatures are not compared, because a key service may sign the same digest differently each time.
  const { signatures: _, ...execution } = plain.body.execution;
  expect(hinted.body.execution).toMatchObject(execution);
  expect(hinted.body.message.data).toEqual(plain.body.message.data);
  expect(hinted.body.message.result).toEqual(plain.body.message.result);
});

test("refuses a withdrawal that does not name this oracle's hub, an amount above zero, and an owner on an EVM chain", async () => {
  const world = await aWorld();
  const base = {
    ...addressRequest,
    settlementChainId: "hub",
    expectedAmount: "50",
    signature: `0x${"11".repeat(64)}1b`,
  };
  const field = async (changes: object) =>
    face(await world.post("withdrawal-initiation", { ...base, ...changes })).slice(1);
  expect(await field({})).toEqual(["rejected", "signature"]);
  expect(await field({ settlementChainId: "other" })).toEqual(["invalid_request", "settlementChainId"]);
  expect(await field({ expectedAmount: "0" })).toEqual(["invalid_request", "expectedAmount"]);
  expect(await field({ expectedAmount: "01" })).toEqual(["invalid_request", "expectedAmount"]);
  expect(
    await field({ withdrawerChainId: "solana", withdrawer: "99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2" }),
  ).toEqual(["invalid_request", "withdrawerChainId"]);
  expect(await field({ withdrawalNonce: "0x1" })).toEqual(["invalid_request", "withdrawalNonce"]);
});

test("identical concurrent requests share one read of the chain, and later requests read it again", async () => {
  const world = await aWorld();
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  world.origin.trouble = async () => await gate;
  world.origin.addDeposits(DEPOSIT_TX, [{}]);
  const all = Array.from({ length: 8 }, async () => await world.post("depository-deposits", deposit));
  await expect.poll(() => world.origin.readCount).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  release();
  const answers = await Promise.all(all);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(world.origin.readCount).toBe(1);
  await world.post("depository-deposits", deposit);
  expect(world.origin.readCount).toBe(2);
});

test("a fill with two faults gets the same error, whichever of the two chains answers later", async () => {
  const world = await aWorld();
  const request = await aFill(world);
  world.origin.depositsOf.clear();
  for (const [originMs, destinationMs] of [
    [50, 0],
    [0, 50],
  ] as const) {
    world.origin.trouble = async () => await new Promise((resolve) => setTimeout(resolve, originMs));
    world.destination.trouble = async () => {
      await new Promise((resolve) => setTimeout(resolve, destinationMs));
      throw new RpcFault({ kind: "network", method: "any", reason: "gone" });
    };
    expect(face(await world.post("solver-fills", request))).toEqual([
      400,
      "not_found",
      "inputs[0].transactionId",
    ]);
  }
});
