import { afterEach, expect, test } from "vitest";
import { startLyingNode } from "../../test/lying-node.ts";
import { createRestClient } from "./rest-client.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/**
 * A server that responds to its first request with 429 and this header, and to the others with 200, with
 * their arrival times.
 */
async function limitedOnce(retryAfter: string) {
  const cameAtMs: number[] = [];
  const node = await startLyingNode((_, response) => {
    cameAtMs.push(performance.now());
    if (cameAtMs.length > 1) response.end("{}");
    else response.writeHead(429, { "retry-after": retryAfter }).end();
  });
  const client = createRestClient({ url: node.url });
  closers.push(node.stop, client.close);
  return { client, cameAtMs };
}

const ask = (client: ReturnType<typeof createRestClient>) => client.post("info", "/info", {});

test("a request after a rate limit waits as long as the server requested", async () => {
  const { client, cameAtMs } = await limitedOnce("1");
  expect(await ask(client)).toMatchObject({ status: 429 });
  expect(await ask(client)).toMatchObject({ status: 200 });
  const [first = 0, second = 0] = cameAtMs;
  expect(second - first).toBeGreaterThanOrEqual(990);
});

test("a request fails at once during a long pause that the server requested", async () => {
  const { client, cameAtMs } = await limitedOnce("60");
  await ask(client);
  const reason = expect.stringMatching(/^the endpoint rate-limited this service; try again in 6\d s$/);
  await expect(ask(client)).rejects.toMatchObject({ kind: "http", reason });
  expect(cameAtMs).toHaveLength(1);
});
