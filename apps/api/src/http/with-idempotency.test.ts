import { ServiceError } from "@causeway/domain";
import { afterAll, expect, test } from "vitest";
import { anApiKey, fakeApiKeys } from "../../../../test/fakes/api-keys.ts";
import { fakeIdempotency } from "../../../../test/fakes/idempotency.ts";
import { anAnswer } from "../../../../test/fakes/route-services.ts";
import { aQuoteBody, aServer } from "../../../../test/support/route-server.ts";
import { LeaseLost } from "./idempotency.port.ts";
import type { Idempotency } from "./idempotency.port.ts";

let duringQuote: () => Promise<void> = async () => undefined;
let quotes = 0;
let begins = 0;
const store = fakeIdempotency();
const countingStore: Idempotency = {
  ...store,
  begin: async (call, nowMs) => {
    begins++;
    return await store.begin(call, nowMs);
  },
};
const { app } = await aServer({
  apiKeys: fakeApiKeys({
    one: anApiKey({ id: "1".repeat(16) }),
    two: anApiKey({ id: "2".repeat(16) }),
    page: anApiKey({ id: "3".repeat(16), scopes: ["quote"], origins: ["https://app.example"] }),
  }),
  idempotency: countingStore,
  createQuote: async (_input, respond) => {
    quotes++;
    await duringQuote();
    return respond({ ...anAnswer, expiresAt: quotes });
  },
});
afterAll(() => app.close());

const page = { "x-api-key": "page", origin: "https://app.example" };
const CLAIM = `/app-fees/0x${"a1".repeat(20)}/claim`;
const aClaim = {
  chainId: 11,
  currency: `0x${"00".repeat(20)}`,
  recipient: `0x${"b2".repeat(20)}`,
  amount: "5",
};

let keys = 0;
const aKey = (): string => `key-${++keys}`;
const quote = async (headers: Record<string, string>, body: object = aQuoteBody, url = "/quote/v2") =>
  await app.inject({ method: "POST", url, headers, payload: body });
const withKey = async (key: string, body?: object, headers: Record<string, string> = {}) =>
  await quote({ "idempotency-key": key, "x-api-key": "one", ...headers }, body);

/** Quotes call `during` while it is set. */
async function whileQuotesRun<T>(during: () => Promise<void>, act: () => Promise<T>): Promise<T> {
  duringQuote = during;
  try {
    return await act();
  } finally {
    duringQuote = async () => undefined;
  }
}

test("replays the first answer byte for byte, and marks it as replayed", async () => {
  const key = aKey();
  const first = await withKey(key);
  const again = await withKey(key);
  expect([first.statusCode, again.statusCode]).toEqual([200, 200]);
  expect(again.body).toBe(first.body);
  expect(again.headers["content-type"]).toBe(first.headers["content-type"]);
  expect([first.headers["idempotency-replayed"], again.headers["idempotency-replayed"]]).toEqual([
    undefined,
    "true",
  ]);
});

test("without the header, every call runs, and the store is not queried", async () => {
  const before = begins;
  const [first, second] = [await quote({}), await quote({})];
  expect(first.json().expiresAt).not.toBe(second.json().expiresAt);
  expect(begins).toBe(before);
});

test("refuses another body under the same key, but not the same body formatted differently", async () => {
  const key = aKey();
  await withKey(key);
  const changed = await withKey(key, { ...aQuoteBody, amount: "2" });
  expect([changed.statusCode, changed.json()]).toMatchObject([422, { errorCode: "IDEMPOTENCY_KEY_REUSED" }]);
  const reordered = Object.fromEntries(Object.entries(aQuoteBody).toReversed());
  expect((await withKey(key, { ...reordered, unknownField: 1 })).headers["idempotency-replayed"]).toBe(
    "true",
  );
});

test("callers, endpoints and addresses do not share keys", async () => {
  const key = aKey();
  const from = async (remoteAddress: string, headers: Record<string, string> = {}, url = CLAIM) =>
    await app.inject({
      method: "POST",
      url,
      headers: { "idempotency-key": key, ...headers },
      payload: url === CLAIM ? aClaim : aQuoteBody,
      remoteAddress,
    });
  const replayed = async (answer: ReturnType<typeof from>) => {
    const { statusCode, headers } = await answer;
    return [statusCode, headers["idempotency-replayed"]];
  };
  const firstKey = { "x-api-key": "one" };
  for (const first of [
    from("192.0.2.7", firstKey, "/quote/v2"),
    from("192.0.2.7", { "x-api-key": "two" }, "/quote/v2"),
    from("192.0.2.7", firstKey, "/quote"),
    from("192.0.2.7", firstKey),
    from("192.0.2.7"),
    from("192.0.2.8"),
    // Everyone who opens the page shares its publishable key.
    from("192.0.2.8", page),
    from("192.0.2.9", page),
  ])
    expect(await replayed(first)).toEqual([200, undefined]);
  expect(await replayed(from("192.0.2.8"))).toEqual([200, "true"]);
  expect(await replayed(from("192.0.2.9", page))).toEqual([200, "true"]);
  // A secret key identifies one backend, whatever its address.
  expect(await replayed(from("192.0.2.10", firstKey))).toEqual([200, "true"]);
});

test("ignores the header for quotes of callers without a secret key, whose answers are not stored", async () => {
  const key = aKey();
  const before = begins;
  for (const headers of [{}, page] as Record<string, string>[]) {
    const answers = [
      await quote({ "idempotency-key": key, ...headers }),
      await quote({ "idempotency-key": key, ...headers }),
    ];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect(new Set(answers.map((answer) => answer.json().expiresAt)).size).toBe(2);
  }
  expect(begins).toBe(before);
});

test("refuses a second call while the first is in progress, with a time to retry", async () => {
  const key = aKey();
  const release = Promise.withResolvers<void>();
  const first = whileQuotesRun(
    () => release.promise,
    () => withKey(key),
  );
  await expect.poll(() => quotes > 0).toBe(true);
  const second = await withKey(key);
  expect([second.statusCode, second.json().errorCode, second.headers["retry-after"]]).toEqual([
    409,
    "IDEMPOTENCY_IN_PROGRESS",
    "1",
  ]);
  release.resolve();
  expect((await first).statusCode).toBe(200);
  expect((await withKey(key)).headers["idempotency-replayed"]).toBe("true");
});

test("replays an error of the call itself", async () => {
  const key = aKey();
  const refuse = async (): Promise<void> => {
    throw new ServiceError("NO_QUOTES", "no route", { data: { reason: "x" } });
  };
  const first = await whileQuotesRun(refuse, () => withKey(key));
  const again = await withKey(key);
  expect([first.statusCode, again.statusCode, again.headers["idempotency-replayed"]]).toEqual([
    400,
    400,
    "true",
  ]);
  expect(again.body).toBe(first.body);
});

test.for([
  ["UNAUTHORIZED", 401],
  ["IDEMPOTENCY_IN_PROGRESS", 409],
  ["RATE_LIMITED", 429],
  ["UNKNOWN_ERROR", 500],
  ["PRICE_FETCH_FAILED", 503],
] as const)("runs the call again after %s, which proves nothing about the call", async ([code, status]) => {
  const key = aKey();
  const fail = async (): Promise<void> => {
    throw new ServiceError(code, "not now");
  };
  expect((await whileQuotesRun(fail, () => withKey(key))).statusCode).toBe(status);
  const again = await withKey(key);
  expect([again.statusCode, again.headers["idempotency-replayed"]]).toEqual([200, undefined]);
});

test("a run that lost its lease reports that another is in progress", async () => {
  const lose = async (): Promise<void> => {
    throw new LeaseLost({ scope: "s", endpoint: "e", key: "k", token: "t" });
  };
  const answer = await whileQuotesRun(lose, () => withKey(aKey()));
  expect([answer.statusCode, answer.json().errorCode]).toEqual([409, "IDEMPOTENCY_IN_PROGRESS"]);
});

test("refuses a header that is empty, too long or not visible ASCII before the call runs", async () => {
  const before = quotes;
  for (const key of ["", "a b", "x".repeat(256), "\u00e9", "a\tb"]) {
    const answer = await withKey(key);
    expect([key, answer.statusCode, answer.json().message]).toEqual([
      key,
      400,
      "Idempotency-Key must be 1 to 255 visible ASCII characters",
    ]);
  }
  expect(quotes).toBe(before);
  expect((await withKey("~".repeat(255))).statusCode).toBe(200);
});
