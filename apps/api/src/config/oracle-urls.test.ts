import { ConfigError } from "@causeway/config";
import { expect, test } from "vitest";
import { readOracleUrls } from "./oracle-urls.ts";

const read = (text: string) => readOracleUrls(text).map(({ url, apiKey }) => [url, apiKey?.reveal()]);

test("reads each entry as a URL and, after the first bar, its key, and trims both", () => {
  expect(read("https://one.example|key|with|bars; http://127.0.0.1:3100/base/ ;")).toEqual([
    ["https://one.example", "key|with|bars"],
    ["http://127.0.0.1:3100/base", undefined],
  ]);
  expect(read("http://oracle-1:3001|key")).toEqual([["http://oracle-1:3001", "key"]]);
});

test.for([
  ["", "ORACLE_URLS must list at least one oracle"],
  [";", "ORACLE_URLS entry 1 must start with an http or https URL"],
  ["ftp://one.example|k", "ORACLE_URLS entry 1 must start with an http or https URL"],
  [
    "http://one.example|hidden",
    "ORACLE_URLS entry 1 must use https; http sends the key unencrypted and is accepted only for private addresses (loopback and private IP addresses, names without a dot, names that end in .internal or .local)",
  ],
  [
    "https://user:hidden@one.example|k",
    "ORACLE_URLS entry 1 has credentials in its URL; put the API key after the |",
  ],
  ["https://one.example?a=hidden|k", "ORACLE_URLS entry 1 must not have a query or fragment"],
  ["https://one.example|hid\nden", "ORACLE_URLS entry 1 has a key with characters not allowed in a header"],
  ["https://one.example|a;https://one.example/|b", "ORACLE_URLS entry 2 repeats the URL of an earlier entry"],
])("rejects %j without printing key or URL", ([text = "", problem = ""]) => {
  let thrown: unknown;
  try {
    readOracleUrls(text);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(ConfigError);
  expect(String(thrown)).toContain(problem);
  expect(String(thrown)).not.toContain("hidden");
  expect(String(thrown)).not.toContain("one.example");
});
