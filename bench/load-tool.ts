// A separate process with its own core: sends the requests of its order and counts the answers.
import autocannon from "autocannon";
import { Agent, request as httpRequest } from "node:http";
import type { LoadOrder, LoadReport, LoadRequest, LoadResult, SinglesResult } from "./load-orders.ts";

const HEADERS = { "content-type": "application/json" };

process.on("message", (order: LoadOrder) => {
  execute(order).then(
    (done) => report({ kind: "done", result: done }),
    (error: unknown) =>
      report({ kind: "failed", reason: error instanceof Error ? error.message : String(error) }),
  );
});

async function execute(order: LoadOrder): Promise<LoadResult | SinglesResult> {
  if (order.kind === "load") return await load(order);
  return order.kind === "singles" ? await singles(order) : await concurrent(order);
}

function report(what: LoadReport): void {
  process.send?.(what);
}

async function load(order: LoadOrder & { kind: "load" }): Promise<LoadResult> {
  const requests = order.requests.map(({ body, ...head }) =>
    body === undefined ? { ...head } : { ...head, body, headers: HEADERS },
  );
  let nextClient = 0;
  const run = autocannon({
    url: order.url,
    connections: order.connections,
    duration: order.seconds,
    sampleInt: 250,
    requests: requests.slice(0, 1),
    // Each connection gets its own part: two identical requests at the same moment would share one database
    // read.
    setupClient: (client) => {
      const first = nextClient++;
      client.setRequests(requests.filter((_, index) => index % order.connections === first));
    },
  });
  let startedAtMs = performance.now();
  run.on("start", () => {
    startedAtMs = performance.now();
  });
  const result = await run;
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const answered = result.statusCodeStats["200"]?.count ?? 0;
  const wrong = result["2xx"] + result.non2xx - answered + result.errors + result.timeouts + result.resets;
  if (wrong > 0 || answered === 0) {
    const codes = Object.entries(result.statusCodeStats).map(([code, { count }]) => `${count} × ${code}`);
    throw new Error(
      `answers: ${codes.join(", ") || "none"}; errors ${result.errors}, timeouts ${result.timeouts}, resets ${result.resets}`,
    );
  }
  return { answered, rate: answered / seconds, bytesPerAnswer: result.throughput.total / answered };
}

async function singles(order: LoadOrder & { kind: "singles" }): Promise<SinglesResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const tookMs: number[] = [];
  try {
    while (tookMs.length < order.count) {
      const request = order.requests[tookMs.length % order.requests.length];
      if (request === undefined) throw new Error("no requests to send");
      tookMs.push(await single(order.url, request, agent));
    }
  } finally {
    agent.destroy();
  }
  return { tookMs };
}

async function concurrent(order: LoadOrder & { kind: "concurrent" }): Promise<SinglesResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: order.connections });
  const tookMs: number[] = [];
  const endsAtMs = performance.now() + order.seconds * 1_000;
  let next = 0;
  const sendUntilEnd = async (): Promise<void> => {
    while (performance.now() < endsAtMs) {
      const request = order.requests[next++ % order.requests.length];
      if (request === undefined) throw new Error("no requests to send");
      tookMs.push(await single(order.url, request, agent));
    }
  };
  try {
    await Promise.all(Array.from({ length: order.connections }, sendUntilEnd));
  } finally {
    agent.destroy();
  }
  return { tookMs };
}

async function single(url: string, { method, path, body }: LoadRequest, agent: Agent): Promise<number> {
  return await new Promise((resolve, reject) => {
    const startedAtMs = performance.now();
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const sent = httpRequest(
      `${url}${path}`,
      { method, agent, headers: { ...HEADERS, ...length }, timeout: 10_000 },
      (answer) => {
        answer.on("end", () => {
          if (answer.statusCode === 200) resolve(performance.now() - startedAtMs);
          else reject(new Error(`${method} ${path} returned ${answer.statusCode}`));
        });
        answer.on("error", reject);
        answer.resume();
      },
    );
    sent.on("timeout", () => sent.destroy(new Error(`${method} ${path} got no response within 10 s`)));
    sent.on("error", reject);
    sent.end(body);
  });
}
