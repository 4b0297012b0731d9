import { expect, test } from "vitest";
import { readTokenList } from "./token-list.adapter.ts";

const ADDRESS = "0xABcdEFABcdEFabcdEfAbCdefabcdeFABcDEFabCD";
const entry = (change: Record<string, unknown> = {}) => ({
  chainId: 1,
  address: ADDRESS,
  decimals: 18,
  symbol: "TKN",
  name: "Token",
  logoURI: "https://example.org/tkn.png",
  ...change,
});
const listOf = (...tokens: readonly unknown[]) => ({
  name: "A list",
  timestamp: "2026-01-01T00:00:00Z",
  version: { major: 1, minor: 0, patch: 0 },
  tokens,
});
const read = (...tokens: readonly unknown[]) => readTokenList(listOf(...tokens), new Set([1]));

test("a listed token is verified, is not held by the solver, and is its own asset", () => {
  expect(read(entry())).toEqual({
    refused: 0,
    tokens: [
      {
        chainId: 1,
        address: ADDRESS.toLowerCase(),
        id: `1:${ADDRESS.toLowerCase()}`,
        priceId: `1:${ADDRESS.toLowerCase()}`,
        symbol: "TKN",
        name: "Token",
        decimals: 18,
        class: "minor",
        supportsBridging: false,
        supportsPermit: false,
        resetsApproval: false,
        logoUri: "https://example.org/tkn.png",
        verified: true,
        maxFillAmount: undefined,
      },
    ],
  });
});

test("skips tokens of other chains, regardless of their address format", () => {
  expect(read(entry({ chainId: 2 }), entry({ chainId: 501, address: "So1ana" }))).toEqual({
    tokens: [],
    refused: 0,
  });
});

test("skips and counts invalid entries and keeps the others", () => {
  const bad = [
    entry({ address: "0x12" }),
    entry({ address: `0x${"00".repeat(20)}` }),
    entry({ decimals: 37 }),
    entry({ decimals: 1.5 }),
    entry({ decimals: "18" }),
    entry({ symbol: "\u200B" }),
    entry({ name: undefined }),
    null,
    "token",
  ];
  const { tokens, refused } = read(...bad, entry());
  expect(tokens.map(({ symbol }) => symbol)).toEqual(["TKN"]);
  expect(refused).toBe(bad.length);
});

test("cleans texts and drops a logo that is not an image URL", () => {
  const [token] = read(entry({ symbol: "A\u202EB", name: "\n", logoURI: "javascript:alert(1)" })).tokens;
  expect(token).toMatchObject({ symbol: "A B", name: "A B", logoUri: undefined });
  expect(read(entry({ logoURI: "ipfs://bafy/logo.png" })).tokens[0]?.logoUri).toBe("ipfs://bafy/logo.png");
});

test("refuses a document that is not a token list", () => {
  for (const document of [null, [], {}, { tokens: {} }, "tokens"])
    expect(() => readTokenList(document, new Set([1]))).toThrow();
});
