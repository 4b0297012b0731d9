import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { AsciiResponse } from "./ascii-response.ts";

test("texts arrive as they were sent, whatever they hold and however their length was told", async () => {
  const texts = ["", "plain", "é", "€ and 😀", "x".repeat(100_000), "é".repeat(20_000), "\u0000\u007f\u0080"];
  const server = createServer({ ServerResponse: AsciiResponse }, (request, response) => {
    const url = new URL(request.url ?? "", "http://any");
    const text = texts[Number(url.searchParams.get("text"))] ?? "";
    const length = Buffer.byteLength(text);
    const way = url.searchParams.get("way");
    if (way === "object") response.writeHead(200, { "content-length": length });
    else if (way === "words") response.writeHead(200, "Good", { "content-length": String(length) });
    else if (way === "list") response.writeHead(200, ["content-length", String(length)]);
    else if (way === "set") response.setHeader("content-length", length);
    if (way === "buffer") response.end(Buffer.from(text));
    else response.end(text);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const { port } = server.address() as AddressInfo;
    for (const [index, text] of texts.entries())
      for (const way of ["object", "words", "list", "set", "none", "buffer"]) {
        const answer = await fetch(`http://127.0.0.1:${port}/?text=${index}&way=${way}`);
        expect(await answer.text(), `${way} of ${text.slice(0, 20)}`).toBe(text);
      }
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
