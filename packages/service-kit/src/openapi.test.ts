import { afterAll, expect, test } from "vitest";
import { createHttpServer } from "./fastify.ts";
import { createLogger } from "./logging.ts";
import { createMetrics } from "./metrics.ts";

const services = { log: createLogger({ name: "test", level: "silent" }), metrics: createMetrics("test") };
const description = { title: "Some API", version: "1.0.0", description: "For tests.", tags: [] };
const withPage = await createHttpServer(services, description);
const withoutPage = await createHttpServer({ ...services, metrics: createMetrics("test") }, description, {
  interactiveDocumentation: false,
});
afterAll(async () => {
  await withPage.close();
  await withoutPage.close();
});

test("the documentation page has the title and the logo of the service, and the root leads there", async () => {
  const root = await withPage.inject("/");
  expect([root.statusCode, root.headers.location]).toEqual([302, "/documentation"]);
  const page = await withPage.inject("/documentation");
  expect(page.statusCode).toBe(200);
  expect(page.body).toContain("<title>Some API</title>");
  const script = await withPage.inject("/documentation/static/swagger-initializer.js");
  const [, logo = ""] = /data:image\/svg\+xml;base64,([\w+/=]+)/.exec(script.body) ?? [];
  expect(Buffer.from(logo, "base64").toString()).toContain('aria-label="Causeway"');
});

test("without the page the root leads to the document", async () => {
  const root = await withoutPage.inject("/");
  expect([root.statusCode, root.headers.location]).toEqual([302, "/documentation/json"]);
  expect((await withoutPage.inject("/documentation/json")).json()).toMatchObject({
    info: { title: "Some API" },
  });
});
