import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readTraceparent, traceOf, traceparentOf } from "./trace-ids.ts";
import { createTraces, type Traces } from "./traces.ts";

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly names: readonly string[];
  readonly body: string;
}

let server: Server;
let received: Received[];
/** The collector's response status; undefined: it does not respond. */
let status: number | undefined;
let registry: Registry;
let traces: Traces;

beforeEach(async () => {
  received = [];
  status = 200;
  registry = new Registry();
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const { resourceSpans } = JSON.parse(body) as {
        resourceSpans: { scopeSpans: { spans: { name: string }[] }[] }[];
      };
      const names = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
      received.push({ headers: request.headers, names: names.map(({ name }) => name), body });
      if (status !== undefined) response.writeHead(status).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  traces = createTraces("causeway-worker", { url, headers: { "x-tenant": "one" } }, registry);
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const ID = `0x${"ab".repeat(32)}`;
const { traceId, rootSpanId } = traceOf(ID);
const record = (name: string): void =>
  traces.record({
    traceId,
    parentSpanId: rootSpanId,
    name,
    startMs: 1_700_000_000_000,
    endMs: 1_700_000_001_500.5,
    attributes: {
      chain: "base",
      why: "https://rpc.example/v2/key failed",
      amount: 5n,
      tries: 2,
      missing: undefined,
    },
  });
const spans = async (outcome: string) =>
  (await registry.getSingleMetric("trace_spans_total")?.get())?.values.find(
    ({ labels }) => labels["outcome"] === outcome,
  )?.value;

test("posts spans as OTLP JSON, without credentials in texts", async () => {
  record("fill_mined");
  await traces.close();
  expect(received[0]?.headers).toMatchObject({ "content-type": "application/json", "x-tenant": "one" });
  const value = (stringValue: string) => ({ stringValue });
  expect(JSON.parse(received[0]?.body ?? "")).toMatchObject({
    resourceSpans: [
      {
        resource: { attributes: [{ key: "service.name", value: value("causeway-worker") }] },
        scopeSpans: [
          {
            spans: [
              {
                traceId,
                parentSpanId: rootSpanId,
                name: "fill_mined",
                startTimeUnixNano: "1700000000000000000",
                endTimeUnixNano: "1700000001500500000",
                attributes: [
                  { key: "chain", value: value("base") },
                  { key: "why", value: value("https://rpc.example/[secret] failed") },
                  { key: "amount", value: value("5") },
                  { key: "tries", value: { doubleValue: 2 } },
                ],
              },
            ],
          },
        ],
      },
    ],
  });
  expect(await spans("sent")).toBe(1);
});

test("drops and counts spans beyond the queue limit", async () => {
  for (let count = 0; count < 4_100; count++) record("deposit_seen");
  expect(await spans("dropped")).toBe(4);
  status = 400;
  await traces.close();
  expect(await spans("dropped")).toBe(4_100);
});

test("sends spans later if the collector is temporarily unavailable", async () => {
  status = 503;
  record("fill_planned");
  await expect.poll(() => received.length, { timeout: 10_000 }).toBe(1);
  status = 200;
  await expect.poll(async () => await spans("sent"), { timeout: 10_000 }).toBe(1);
  expect(received.at(-1)?.names).toEqual(["fill_planned"]);
  await traces.close();
});

test("the trace id of a request depends only on its request id, and a header passes it to oracles", () => {
  expect(traceOf(ID.toUpperCase().replace("0X", "0x"))).toEqual({ traceId, rootSpanId });
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(readTraceparent(traceparentOf(ID))).toEqual({ traceId, parentSpanId: rootSpanId });
  for (const bad of [
    undefined,
    "",
    "00-0-0-01",
    `00-${"0".repeat(32)}-${rootSpanId}-01`,
    [traceparentOf(ID)],
  ])
    expect(readTraceparent(bad)).toBeUndefined();
});
