import { afterEach, expect, test } from "vitest";
import { startLyingNode } from "../../test/lying-node.ts";
import { createEndpointOrder } from "./endpoint-order.ts";
import { createRestClient, jsonOf } from "./rest-client.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/**
 * A server that responds to its first request with 429 and this header, and to the others with 200, with
 * their arrival times.
 */
async function startLimitingServer(retryAfter: string | (() => string), status = 429) {
  const requestTimesMs: number[] = [];
  const node = await startLyingNode((_, response) => {
    requestTimesMs.push(performance.now());
    const header = typeof retryAfter === "string" ? retryAfter : retryAfter();
    if (requestTimesMs.length > 1) response.end("{}");
    else response.writeHead(status, { "retry-after": header }).end("{}");
  });
  const client = createRestClient({ url: node.url });
  closers.push(node.stop, client.close);
  return { client, requestTimesMs };
}

const requestInfo = (client: ReturnType<typeof createRestClient>) => client.post("info", "/info", {});

/** The time this many seconds from now, as an HTTP date. */
const inSeconds = (seconds: number) => () => new Date(Date.now() + seconds * 1_000).toUTCString();

test.each<[string, string | (() => string), number, number]>([
  ["in seconds", "1", 429, 990],
  // A date has no milliseconds.
  ["as a date", inSeconds(2), 429, 990],
  ["in seconds, with status 503", "1", 503, 990],
  ["as a past date", inSeconds(-3_600), 429, 240],
  ["that cannot be read", "soon", 429, 370],
])(
  "a request after a rate limit waits as long as the server requested: %s",
  async (_, retryAfter, status, minMs) => {
    const { client, requestTimesMs } = await startLimitingServer(retryAfter, status);
    expect(await requestInfo(client)).toMatchObject({ status });
    expect(await requestInfo(client)).toMatchObject({ status: 200 });
    const [first = 0, second = 0] = requestTimesMs;
    expect(second - first).toBeGreaterThanOrEqual(minMs);
    expect(second - first).toBeLessThan(2_500);
  },
);

test.each<[string, string | (() => string)]>([
  ["a minute", "60"],
  ["a month", "2592000"],
  ["more seconds than a number holds", "9".repeat(400)],
  ["until a date in a year", inSeconds(31_536_000)],
])(
  "fails a request immediately during a long pause, which lasts at most a minute: %s",
  async (_, retryAfter) => {
    const { client, requestTimesMs } = await startLimitingServer(retryAfter);
    await requestInfo(client);
    const reason = expect.stringMatching(/^the endpoint rate-limited this service; try again in 6\d s$/);
    await expect(requestInfo(client)).rejects.toMatchObject({ kind: "http", reason });
    expect(requestTimesMs).toHaveLength(1);
  },
);

test("endpoints in order: one that requested a pause is paused, and the next one answers", async () => {
  const { client: limited, requestTimesMs } = await startLimitingServer("30");
  const { client: otherClient } = await startLimitingServer("0", 200);
  const order = createEndpointOrder(["one", "two"]);
  const read = async () =>
    await order.run(async (index) => jsonOf("info", await requestInfo(index === 0 ? limited : otherClient)));
  for (let n = 0; n < 3; n++) expect(await read()).toEqual({});
  expect(order.statuses().map(({ state }) => state)).toEqual(["paused", "ok"]);
  expect(requestTimesMs).toHaveLength(1);
});
