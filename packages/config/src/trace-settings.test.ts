import { expect, test } from "vitest";
import { Secret } from "./secret.ts";
import { traceTarget } from "./trace-settings.ts";

const read = (endpoint: string, headers?: string) =>
  traceTarget({
    tracesEndpoint: new Secret(endpoint),
    tracesHeaders: headers === undefined ? undefined : new Secret(headers),
  });

test("reads the endpoint and its headers", () => {
  expect(traceTarget({ tracesEndpoint: undefined, tracesHeaders: undefined })).toBeUndefined();
  expect(read("http://collector:4318/", "Authorization=Basic%20abc==,x-tenant=one")).toEqual({
    url: "http://collector:4318/v1/traces",
    headers: { authorization: "Basic abc==", "x-tenant": "one" },
  });
  expect(read("https://a.example/otlp")?.url).toBe("https://a.example/otlp/v1/traces");
});

test.each([
  [
    "collector:4318",
    undefined,
    "OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL without a user name or password",
  ],
  [
    "http://me:secret@a.example",
    undefined,
    "OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL without a user name or password",
  ],
  ["http://a.example", "x=1,secret", "OTEL_EXPORTER_OTLP_HEADERS entry 2 must be <name>=<value>"],
  ["http://a.example", "x=%", "OTEL_EXPORTER_OTLP_HEADERS entry 1 must be <name>=<value>"],
])("refuses %s with headers %s without quoting them", (endpoint, headers, problem) => {
  expect(() => read(endpoint, headers)).toThrow(expect.objectContaining({ problems: [problem] }) as Error);
});
