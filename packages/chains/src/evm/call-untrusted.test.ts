import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { callUntrusted } from "./call-untrusted.ts";
import { NodeRefusal, RpcFault } from "@causeway/families";
import { createRpcTransport, type RpcTransport } from "../nodes/transport.ts";

const to = `0x${"c0".repeat(20)}` as const;

/** A node that returns this answer or failure. */
function aNode(answer: unknown): { readonly transport: RpcTransport; readonly requests: unknown[] } {
  const requests: unknown[] = [];
  const request = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    requests.push([method, params]);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { transport: { request } as unknown as RpcTransport, requests };
}

const refusal = (nodeText: string, nodeCode: number, nodeData?: unknown): NodeRefusal =>
  new NodeRefusal({ method: "eth_call", nodeCode, nodeText, nodeData });

test("returns a contract's answer unchanged, and empty bytes without a contract", async () => {
  for (const bytes of ["0x", "0x1626ba7e"]) {
    const { transport, requests } = aNode(bytes);
    expect(await callUntrusted(transport, to, "0x12345678")).toBe(bytes);
    expect(requests).toEqual([["eth_call", [{ to, data: "0x12345678" }, "latest"]]]);
  }
});

test("returns undefined if the contract reverts", async () => {
  for (const node of [refusal("execution reverted", 3, "0x"), refusal("execution reverted: no", -32_000)])
    expect(await callUntrusted(aNode(node).transport, to, "0x")).toBeUndefined();
});

test("throws a fault if the node fails for its own reasons", async () => {
  const faults = [
    refusal("rate limit exceeded", -32_005),
    refusal("header not found", -32_000),
    new RpcFault({ kind: "deadline", method: "eth_call", reason: "no answer" }),
    5,
    null,
    "0x123",
  ];
  for (const fault of faults)
    await expect(callUntrusted(aNode(fault).transport, to, "0x")).rejects.toBeInstanceOf(RpcFault);
});

test("a contract that never returns does not delay other calls", async () => {
  const server = createServer((request, response) => {
    request.setEncoding("utf8");
    let body = "";
    request.on("data", (chunk: string) => void (body += chunk));
    request.on("end", () => {
      // A node executes a whole batch before it answers any of it.
      if (body.includes(to)) return;
      const { id } = JSON.parse(body) as { id: number };
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: "0x7" }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const transport = createRpcTransport({ url: `http://127.0.0.1:${port}` });
  try {
    const pending = callUntrusted(transport, to, "0x").catch((error: unknown) => error);
    expect(await transport.request("eth_gasPrice", [])).toBe("0x7");
    await transport.close();
    expect(await pending).toBeInstanceOf(RpcFault);
  } finally {
    await transport.close();
    server.closeAllConnections();
    server.close();
  }
});
