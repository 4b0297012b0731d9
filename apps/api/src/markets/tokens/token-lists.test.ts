import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createTokenLists, type TokenListOptions, type TokenLists } from "./token-lists.adapter.ts";

const address = (byte: string): `0x${string}` => `0x${byte.repeat(20)}`;
const listOf = (...entries: readonly (readonly [byte: string, symbol: string])[]): string =>
  JSON.stringify({
    name: "A list",
    tokens: entries.map(([byte, symbol]) => ({
      chainId: 1,
      address: address(byte),
      decimals: 18,
      symbol,
      name: symbol,
    })),
  });

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0)) await cleanUp();
});

/** A server of lists, by path. */
async function serve(answer: RequestListener): Promise<string> {
  const server: Server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const bound = server.address();
  return `http://127.0.0.1:${typeof bound === "object" && bound !== null ? bound.port : 0}`;
}

function listsFrom(sources: readonly string[], change: Partial<TokenListOptions> = {}) {
  const faults: { readonly list: string; readonly refused?: number }[] = [];
  const lists: TokenLists = createTokenLists({
    sources,
    chainIds: new Set([1]),
    refreshMs: 3_600_000,
    bounds: { maxBytes: 10_000, timeoutMs: 1_000 },
    onFault: (_error, facts) => faults.push(facts),
    ...change,
  });
  cleanups.push(() => lists.close());
  return { lists, faults };
}

const symbols = (lists: TokenLists): string[] => lists.tokensOf(1).map(({ symbol }) => symbol);

test("reads lists from files and servers, and the earlier one takes precedence", async () => {
  const folder = await mkdtemp(join(tmpdir(), "token-lists-"));
  cleanups.push(() => rm(folder, { recursive: true }));
  const file = join(folder, "list.json");
  await writeFile(file, listOf(["a1", "FILE"], ["a2", "BOTH-FILE"]));
  const url = await serve((_request, response) => response.end(listOf(["a2", "BOTH-URL"], ["a3", "URL"])));
  const { lists, faults } = listsFrom([file, url]);
  await lists.refresh();
  expect(symbols(lists)).toEqual(["FILE", "BOTH-FILE", "URL"]);
  expect(lists.get(1, address("a2"))?.symbol).toBe("BOTH-FILE");
  expect(lists.get(2, address("a2"))).toBeUndefined();
  expect(faults).toEqual([]);
});

test("keeps the previous state of a list that cannot be read, without affecting other lists", async () => {
  const state = { down: false, other: "X" };
  const url = await serve((request, response) => {
    if (request.url === "/a") {
      if (state.down) response.writeHead(500).end("down");
      else response.end(listOf(["a1", "A"]));
    } else response.end(listOf(["b1", state.other]));
  });
  const { lists, faults } = listsFrom([`${url}/a`, `${url}/b`]);
  await lists.refresh();
  expect(symbols(lists)).toEqual(["A", "X"]);
  state.down = true;
  state.other = "Y";
  await lists.refresh();
  expect(symbols(lists)).toEqual(["A", "Y"]);
  expect(faults).toEqual([{ list: `${url}/a` }]);
});

test("refuses a list that is too large, too slow or invalid", async () => {
  const url = await serve((request, response) => {
    if (request.url === "/huge") response.end(listOf(["a1", "A"]) + " ".repeat(10_000));
    if (request.url === "/invalid") response.end("<html>");
    // The response to "/slow" never ends.
    if (request.url === "/slow") response.write("{");
  });
  const sources = [`${url}/huge`, `${url}/slow`, `${url}/invalid`, "/no/such/file.json"];
  const { lists, faults } = listsFrom(sources, { bounds: { maxBytes: 10_000, timeoutMs: 200 } });
  await lists.refresh();
  expect(symbols(lists)).toEqual([]);
  expect(faults.map(({ list }) => list).sort()).toEqual([...sources].sort());
});

test("follows redirects of a list within its origin, and elsewhere only with https", async () => {
  const elsewhere = await serve((_request, response) => response.end(listOf(["a1", "STRANGER"])));
  const url = await serve((request, response) => {
    const target = { "/moved": "/here", "/away": elsewhere, "/round": "/round" }[request.url ?? ""];
    if (target === undefined) response.end(listOf(["a2", "OWN"]));
    else response.writeHead(302, { location: target }).end();
  });
  const { lists, faults } = listsFrom([`${url}/away`, `${url}/round`, `${url}/moved`]);
  await lists.refresh();
  expect(symbols(lists)).toEqual(["OWN"]);
  expect(faults.map(({ list }) => list).sort()).toEqual([`${url}/away`, `${url}/round`]);
});

test("reports the number of invalid entries", async () => {
  const url = await serve((_request, response) =>
    response.end(JSON.stringify({ tokens: [null, { chainId: 1 }] })),
  );
  const { lists, faults } = listsFrom([url]);
  await lists.refresh();
  expect(faults).toEqual([{ list: url, refused: 2 }]);
});

test("refreshes lists repeatedly until closed", async () => {
  let requests = 0;
  const url = await serve((_request, response) => {
    requests += 1;
    response.end(listOf(["a1", `V${requests}`]));
  });
  const { lists } = listsFrom([url], { refreshMs: 10 });
  await lists.refresh();
  await expect.poll(() => requests).toBeGreaterThan(2);
  lists.close();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const asOfClose = requests;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(requests).toBe(asOfClose);
});

test("closing aborts the read of a list", async () => {
  const folder = await mkdtemp(join(tmpdir(), "token-lists-"));
  cleanups.push(() => rm(folder, { recursive: true }));
  const file = join(folder, "list.json");
  await writeFile(file, listOf(["a1", "BEFORE"]));
  const { lists } = listsFrom([file], { refreshMs: 5 });
  const reading = lists.refresh();
  lists.close();
  await reading;
  await writeFile(file, listOf(["a1", "AFTER"]));
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(symbols(lists)).toEqual(["BEFORE"]);
});
