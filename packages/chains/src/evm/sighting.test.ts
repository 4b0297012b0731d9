import { afterEach, expect, test } from "vitest";
import { json, startLyingNode, type LyingNode, type RpcCall } from "../../test/lying-node.ts";
import { createSightings, type Sight } from "./sighting.ts";
import { createRpcTransport } from "../nodes/transport.ts";

// Two nodes behind one address: the one with the final head is on the branch "aa", the other stayed on "0f".

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const hashOf = (number: bigint, branch: string): string =>
  `0x${branch}${number.toString(16).padStart(62, "0")}`;
const includesHead = (calls: readonly RpcCall[]): boolean =>
  calls.some(({ params }) => params[0] === "finalized");

/** Each request goes to one node: those that ask for the head to the good one, all others to the other. */
async function startBalancer(
  isRefused: (calls: readonly RpcCall[], isBatch: boolean, request: number) => boolean,
): Promise<{ node: LyingNode; sight: Sight }> {
  const node = await startLyingNode((calls, response, isBatch) => {
    if (isRefused(calls, isBatch, node.requests.length)) {
      response.writeHead(400, { "content-type": "text/html" }).end("<html>Bad Request</html>");
      return;
    }
    const branch = includesHead(calls) ? "aa" : "0f";
    const answers = calls.map(({ id, params }) => {
      const number = params[0] === "finalized" ? 1_000n : BigInt(params[0] as string);
      const [hash, parentHash] = [hashOf(number, branch), hashOf(number - 1n, branch)];
      const quantity = `0x${number.toString(16)}`;
      return { jsonrpc: "2.0", id, result: { number: quantity, hash, parentHash, timestamp: quantity } };
    });
    json(response, isBatch ? answers : answers[0]);
  });
  const transport = createRpcTransport({ url: node.url });
  closers.push(node.stop, transport.close);
  return { node, sight: createSightings(transport, "finalized") };
}

const heights = Array.from({ length: 200 }, (_, index) => 700n + BigInt(index));
const branchOf = async (sight: Sight, number: bigint): Promise<string | undefined> =>
  (await sight(number)).block?.hash.slice(2, 4);

test("reads each block in a request with the head, for any number of blocks", async () => {
  const { node, sight } = await startBalancer(() => false);
  const branches = await Promise.all(heights.map(async (number) => await branchOf(sight, number)));
  expect(new Set(branches)).toEqual(new Set(["aa"]));
  expect(node.requests.length).toBeLessThanOrEqual(3);
  expect(node.requests.every(includesHead)).toBe(true);
});

test("sends at most ten calls per batch to a node with that limit, each batch with a head", async () => {
  const { node, sight } = await startBalancer((calls) => calls.length > 10);
  const branches = await Promise.all(heights.map(async (number) => await branchOf(sight, number)));
  expect(new Set(branches)).toEqual(new Set(["aa"]));
  expect(node.requests.every(includesHead)).toBe(true);
});

test("reads no block if batches are refused, because two nodes might answer", async () => {
  const { node, sight } = await startBalancer((_calls, isBatch) => isBatch);
  for (let time = 0; time < 3; time += 1)
    await expect(sight(950n)).rejects.toMatchObject({ kind: "batchRefused", retryable: true });
  expect(node.requests.every((calls) => calls.length === 2)).toBe(true);
});

test("one refusal by a proxy is one fault, and the next read succeeds", async () => {
  const { sight } = await startBalancer((_calls, _isBatch, request) => request === 1);
  await expect(sight(950n)).rejects.toMatchObject({ kind: "batchRefused" });
  expect(await branchOf(sight, 950n)).toBe("aa");
});
