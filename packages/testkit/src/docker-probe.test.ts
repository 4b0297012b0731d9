import { rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { isDockerAvailable } from "./docker-probe.ts";
import { newTempDir } from "./paths.ts";

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

async function engineOnSocket(answer: RequestListener): Promise<string> {
  const folder = newTempDir("docker-test");
  const socket = join(folder, "engine.sock");
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  opened.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true, force: true });
  });
  return `unix://${socket}`;
}

test("detects an engine that answers a ping", async () => {
  const host = await engineOnSocket((request, response) => {
    response.writeHead(request.url === "/_ping" ? 200 : 404).end("OK");
  });
  expect(await isDockerAvailable(host)).toBe(true);
});

test("detects no engine without a socket, or if the ping fails or times out", async () => {
  expect(await isDockerAvailable("unix:///nowhere/docker.sock")).toBe(false);
  expect(await isDockerAvailable(await engineOnSocket((_, response) => response.writeHead(500).end()))).toBe(
    false,
  );
  expect(await isDockerAvailable(await engineOnSocket(() => undefined), 100)).toBe(false);
});
