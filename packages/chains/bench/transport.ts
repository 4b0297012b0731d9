// Calls per second of the batched transport and of viem's http transport, against one node that answers at
// once: node -C source packages/chains/bench/transport.ts
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createPublicClient, http } from "viem";
import { createRpcTransport } from "../src/nodes/transport.ts";
import { viemTransport } from "../src/evm/viem-transport.ts";

interface Call {
  readonly id: number;
}

if (process.send !== undefined) serve();
else await measure();

/** The node, in a separate process, so that it does not share our core. */
function serve(): void {
  const answer = ({ id }: Call): object => ({ jsonrpc: "2.0", id, result: "0x10" });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const document = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[];
      const body = JSON.stringify(Array.isArray(document) ? document.map(answer) : answer(document));
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    });
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
}

async function measure(): Promise<void> {
  const node = fork(import.meta.filename, { execArgv: ["-C", "source"] });
  const [port] = (await once(node, "message")) as [number];
  const url = `http://127.0.0.1:${port}`;
  const rpc = createRpcTransport({ url });
  const plain = createPublicClient({ transport: http(url), cacheTime: 0 });
  const batched = createPublicClient({ transport: http(url, { batch: true }), cacheTime: 0 });
  const ours = createPublicClient({ transport: viemTransport(rpc), cacheTime: 0 });
  const contenders: Record<string, () => Promise<unknown>> = {
    "viem http": async () => await plain.request({ method: "eth_gasPrice" }),
    "viem http, batch": async () => await batched.request({ method: "eth_gasPrice" }),
    "viem over ours": async () => await ours.request({ method: "eth_gasPrice" }),
    ours: async () => await rpc.request("eth_gasPrice", []),
  };
  for (const inFlight of [1, 16, 64]) {
    for (const [name, call] of Object.entries(contenders)) {
      await callsPerSecond(call, inFlight, 300);
      const rate = await callsPerSecond(call, inFlight, 1_000);
      process.stdout.write(`${inFlight} in flight, ${name}: ${Math.round(rate)} calls/s\n`);
    }
  }
  await rpc.close();
  node.kill();
}

async function callsPerSecond(
  call: () => Promise<unknown>,
  inFlight: number,
  durationMs: number,
): Promise<number> {
  const started = performance.now();
  let calls = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() - started < durationMs) {
      await call();
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
  return (calls * 1_000) / (performance.now() - started);
}
