import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { freePort } from "@causeway/testkit";
import { startSystem, type System } from "@causeway/localnet";
import { openapiExamples } from "@causeway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { portBaseOf } from "./port-bases.ts";

const README = new URL("../../README.md", import.meta.url);
let system: System;

beforeAll(async () => {
  // Equivalent to `npm start -- --set RATE_LIMITS=on`.
  system = await startSystem({
    env: {},
    portBase: portBaseOf("readme"),
    oracles: 0,
    durable: false,
    appEnv: { RATE_LIMITS: "on" },
  });
  await system.sponsorship.funded;
}, 60_000);

afterAll(async () => {
  await system.stop();
});

/** Runs the README's first bash block that contains this text, unchanged. */
async function runBlock(
  containing: string,
  api: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const page = await readFile(README, "utf8");
  const blocks = [...page.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
  const script = blocks.find((block) => block.includes(containing));
  if (script === undefined) throw new Error(`the README has no bash block with ${containing}`);
  const [node] = system.nodes;
  if (node === undefined) throw new Error("the system has no chain");
  const run = promisify(execFile)("bash", ["--noprofile", "--norc", "-euo", "pipefail", "-c", script], {
    env: { ...process.env, API: api, ORIGIN_RPC: node.url },
    timeout: 45_000,
  });
  return await run.then(
    (output) => ({ code: 0, ...output }),
    (error: unknown) => error as { code: number; stdout: string; stderr: string },
  );
}

test("the README's curl walkthrough completes a bridge, exactly as written", async () => {
  const { code, stdout, stderr } = await runBlock("/quote/v2", system.endpoints.api.url);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const lines = stdout.trim().split("\n");
  expect(lines.slice(0, 2)).toEqual(["72100117 Local Alder", "72100228 Local Birch"]);
  expect(lines.at(-2)).toBe("success");
  expect(lines.at(-1)).toBe("recipient");
}, 60_000);

test("the curl walkthrough reports in one line that no system is running", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  expect(await runBlock("/quote/v2", url)).toMatchObject({
    code: 1,
    stdout: "",
    stderr: `nothing answers at ${url}: run npm start first\n`,
  });
});

test("the examples of the OpenAPI document work unchanged", async () => {
  const { schemas, parameters } = openapiExamples;
  const { api, apiKeys } = system.endpoints;
  const ask = async (path: string, body?: object): Promise<number> => {
    const response = await fetch(`${api.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { "content-type": "application/json", "x-api-key": apiKeys[0]?.key ?? "" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return response.status;
  };
  const { address, chainId, wallet } = parameters;
  expect({
    quote: await ask("/quote/v2", schemas.QuoteRequest),
    price: await ask("/price", schemas.QuoteRequest),
    currencies: await ask("/currencies/v2", schemas.CurrenciesRequest),
    tokenPrice: await ask(`/currencies/token/price?address=${address}&chainId=${chainId}`),
    health: await ask(`/chains/health?chainId=${chainId}`),
    liquidity: await ask(`/chains/liquidity?chainId=${chainId}`),
    balances: await ask(`/app-fees/${wallet}/balances`),
    webhook: await ask("/webhooks", schemas.CreateWebhookRequest),
    execute: await ask("/execute", schemas.ExecuteRequest),
  }).toEqual({
    quote: 200,
    price: 200,
    currencies: 200,
    tokenPrice: 200,
    health: 200,
    liquidity: 200,
    balances: 200,
    webhook: 200,
    execute: 200,
  });
  expect(wallet).toBe(system.sponsor.address.toLowerCase());
});

test("the README's rate limit example reaches the limit for quotes without a key, exactly as written", async () => {
  // The minute of the rate limit may end during the first run, but then not during the second.
  for (const round of [1, 2]) {
    const { code, stdout, stderr } = await runBlock("seq 31", system.endpoints.api.url);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^( *\d+ (200|429)\n)+$/);
    if (stdout.includes("429")) return;
    expect(round, "no quote was refused").toBe(1);
  }
}, 90_000);
