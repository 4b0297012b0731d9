import { createServer, type Server } from "node:net";
import { expect, test } from "vitest";
import { freePort, isPortFree, onPort, PortInUse } from "./free-port.ts";

async function listenOn(port: number): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen({ port, host: "127.0.0.1" }, resolve));
  return server;
}

test("many who ask at one moment get a port each, though nobody listens on his yet", async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(new Set(ports).size).toBe(50);
  for (const port of ports) expect(port >= 10_000 && port < 18_000).toBe(true);
});

test("a port that somebody listens on is not given, and asked for by number it is refused", async () => {
  const port = await freePort();
  const server = await listenOn(port);
  try {
    expect(await isPortFree(port)).toBe(false);
    await expect(onPort(port, async () => "started")).rejects.toThrow(PortInUse);
    // As many as there are in the whole slice.
    for (let asked = 0; asked < 200; asked++) expect(await freePort()).not.toBe(port);
  } finally {
    server.close();
  }
});
