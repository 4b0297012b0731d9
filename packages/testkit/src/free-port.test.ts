import { createServer, type Server } from "node:net";
import { expect, test } from "vitest";
import { freePort, isPortFree, onPort, PortInUse } from "./free-port.ts";
import { ProcessStartFailed } from "./process.ts";

async function listenOn(port: number): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen({ port, host: "127.0.0.1" }, resolve));
  return server;
}

test("gives concurrent callers different ports even before they listen", async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(new Set(ports).size).toBe(50);
  for (const port of ports) expect(port >= 10_000 && port < 18_000).toBe(true);
});

test("a port in use is not returned, and requesting it by number is refused", async () => {
  const port = await freePort();
  const server = await listenOn(port);
  try {
    expect(await isPortFree(port)).toBe(false);
    await expect(onPort(port, async () => "started")).rejects.toThrow(PortInUse);
    // As many calls as there are ports in the slice.
    for (let call = 0; call < 200; call++) expect(await freePort()).not.toBe(port);
  } finally {
    server.close();
  }
});

test("throws PortInUse when another process takes the port during startup", async () => {
  const port = await freePort();
  const startFailure = (logTail: string) =>
    new ProcessStartFailed({ processName: "api-1", reason: "exit code 1", logTail });
  // Another process has or had the port, and the log reports it.
  const start = onPort(port, async () => {
    const server = await listenOn(port);
    setTimeout(() => server.close(), 200);
    throw startFailure("");
  });
  await expect(start).rejects.toEqual(new PortInUse(port));
  for (const line of [
    "Error: listen EADDRINUSE: address already in use 127.0.0.1:18500",
    '{"event":"startFailed","problem":"port 18500 of 127.0.0.1 is in use by another process; stop that process"}',
    "Error: Address already in use (os error 98)",
  ]) {
    const other = await freePort();
    await expect(onPort(other, async () => await Promise.reject(startFailure(line)))).rejects.toEqual(
      new PortInUse(other),
    );
  }
  const unreachable = startFailure("connect ECONNREFUSED");
  await expect(onPort(await freePort(), async () => await Promise.reject(unreachable))).rejects.toBe(
    unreachable,
  );
});
