import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { countCalls, startCountingProxy } from "./counting-proxy.ts";

test("a batch counts once per call in it", () => {
  expect(countCalls('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}')).toBe(1);
  expect(countCalls('[{"id":1},{"id":2},{"id":3}]')).toBe(3);
});

test("requests reach the node, answers come back, and both are counted", async () => {
  const node = createServer((request, response) => {
    request.on("data", (body: Buffer) => response.end(`answer to ${body.toString()}`));
  });
  await new Promise<void>((resolve) => {
    node.listen(0, "127.0.0.1", resolve);
  });
  const proxy = await startCountingProxy((node.address() as AddressInfo).port);
  try {
    const body = '[{"id":1},{"id":2}]';
    const answer = await fetch(`http://127.0.0.1:${proxy.port}`, { method: "POST", body });
    expect(await answer.text()).toBe(`answer to ${body}`);
    expect(proxy.counted).toEqual({ calls: 2, httpRequests: 1 });
  } finally {
    await proxy.stop();
    node.closeAllConnections();
    node.close();
  }
});
