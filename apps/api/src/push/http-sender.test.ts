import type { LookupAddress } from "node:dns";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { checkedLookup, httpSender, type Resolve } from "./http-sender.adapter.ts";

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

/** A loopback server that counts its calls. */
async function aServer(answer: (response: ServerResponse) => void) {
  const calls: string[] = [];
  let connections = 0;
  const server: Server = createServer((request, response) => {
    calls.push(request.url ?? "");
    answer(response);
  });
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  endings.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { calls, connections: () => connections, port, url: `http://127.0.0.1:${port}` };
}

function aSender(policy: { readonly allowPrivate: boolean; readonly timeoutMs?: number }, resolve?: Resolve) {
  const sender = httpSender({ timeoutMs: 2_000, ...policy }, resolve);
  endings.push(sender.close);
  return async (url: string, signal = new AbortController().signal) =>
    await sender.send({ url, headers: {}, body: "{}", signal });
}

const pointsTo =
  (...addresses: string[]): Resolve =>
  async (): Promise<LookupAddress[]> =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

test("connects to the checked addresses, and checks them again for each attempt", async () => {
  const answers = [pointsTo("8.8.8.8", "2606:4700::1"), pointsTo("127.0.0.1")];
  const lookup = checkedLookup(
    false,
    async (host, options) => (await answers.shift()?.(host, options)) ?? [],
  );
  const connectedTo = async () =>
    await new Promise((resolve) =>
      lookup("rebinding.example", { all: true }, (error, addresses) => resolve(error?.message ?? addresses)),
    );
  expect(await connectedTo()).toEqual([
    { address: "8.8.8.8", family: 4 },
    { address: "2606:4700::1", family: 6 },
  ]);
  expect(await connectedTo()).toBe("the address 127.0.0.1 is not public");
  expect(await connectedTo()).toBe("the host name has no address");
});

test.each([
  ["127.0.0.1"],
  ["::1"],
  ["10.0.0.7"],
  ["169.254.169.254"],
  ["::ffff:127.0.0.1"],
  ["8.8.8.8", "192.168.0.1"],
])("does not call a name that resolves to %s", async (...addresses) => {
  const { port, calls } = await aServer((response) => response.end());
  const send = aSender({ allowPrivate: false }, pointsTo(...addresses));
  const { status, error } = await send(`https://inside.example:${port}/`);
  expect([status, error]).toEqual([undefined, `the address ${addresses.at(-1)} is not public`]);
  expect(calls).toEqual([]);
});

test.each([
  "https://127.0.0.1:1/",
  "https://[::1]:1/",
  "https://[::ffff:7f00:1]:1/",
  "https://0x7f.1/",
  "https://2130706433/",
])("does not call the literal address %s", async (url) =>
  expect((await aSender({ allowPrivate: false })(url)).error).toContain("is not public"),
);

test("refuses plain http when only public addresses are allowed", async () => {
  const { url, calls } = await aServer((response) => response.end());
  expect((await aSender({ allowPrivate: false })(url)).error).toBe("the URL is not https");
  expect(calls).toEqual([]);
  expect(await aSender({ allowPrivate: true })(url)).toMatchObject({ status: 200, error: undefined });
});

test("each attempt uses a new connection", async () => {
  const { url, connections } = await aServer((response) => response.end("ok"));
  const send = aSender({ allowPrivate: true });
  for (let attempt = 0; attempt < 3; attempt++) await send(url);
  expect(connections()).toBe(3);
});

test("redirects and error statuses fail, and the response is kept up to a limit", async () => {
  const elsewhere = await aServer((response) => response.end());
  const { url } = await aServer((response) =>
    response.writeHead(307, { location: elsewhere.url }).end("go there"),
  );
  const send = aSender({ allowPrivate: true });
  expect(await send(url)).toMatchObject({ status: 307, error: "HTTP status 307", response: "go there" });
  expect(elsewhere.calls).toEqual([]);
  const endless = await aServer((response) => {
    response.writeHead(500);
    const more = (): void =>
      void (response.destroyed || (response.write("x".repeat(10_000)), setImmediate(more)));
    more();
  });
  const { response, tookMs } = await send(endless.url);
  expect(response).toBe("x".repeat(1_024));
  expect(tookMs).toBeLessThan(2_000);
});

test("an answer that does not arrive or does not end takes no longer than the timeout", async () => {
  const silent = await aServer(() => undefined);
  const send = aSender({ allowPrivate: true, timeoutMs: 200 });
  const { error, tookMs } = await send(silent.url);
  expect(error).toBe("no response within 200 ms");
  expect(tookMs).toBeLessThan(1_000);
  const dripping = await aServer((response) => void response.writeHead(200).write("taken"));
  expect(await send(dripping.url)).toMatchObject({ status: 200, error: undefined, response: "taken" });
  expect((await send("http://127.0.0.1:1/")).error).toBe("ECONNREFUSED");
});
