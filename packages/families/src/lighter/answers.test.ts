import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { RpcFault } from "../rpc-fault.ts";
import { readContract, readLoggedTransfers, readTransaction } from "./answers.ts";
import { parseExactJson } from "./answers/exact-json.ts";
import { transactionStateOf } from "./finality.ts";

/** In wire format, without the file's whitespace; its large numbers are in strings. */
const recorded = (name: string): string =>
  JSON.stringify(JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), "utf8")));
const TRANSFER = recorded("transfer");
const HASH = "b5b63eaa396afe74c0bc3e812f5c05ad4f55b3b80e66c4284dea26f5351ed311320924c1e8514aaa";
const read = (text: string, status = 200) => readTransaction(HASH, status, text);
const faultOf = (ask: () => unknown): unknown => {
  try {
    return ask();
  } catch (error) {
    return error instanceof RpcFault ? error.kind : error;
  }
};

test("reads a complete record, with amounts that a double cannot represent", () => {
  expect(read(TRANSFER)).toEqual({
    hash: HASH,
    state: "final",
    queuedAtMs: 1_763_298_993_375n,
    executedAtMs: 1_763_298_993_242n,
    blockHeight: 97_526_892n,
    transfer: {
      fromAccountIndex: 281_474_976_710_640n,
      apiKeyIndex: 4n,
      toAccountIndex: 460_491n,
      assetIndex: 3n,
      fromRouteType: 0n,
      toRouteType: 0n,
      amount: 1_152_921_504_606_846_975n,
      usdcFee: 3_000_000n,
      memo: `0x${"abcd1234".repeat(8)}`,
      nonce: 1n,
    },
  });
});

test("parses any integer exactly", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: (1n << 60n) - 1n }), (amount) => {
      const text = TRANSFER.replace("1152921504606846975", amount.toString());
      expect(read(text)?.transfer?.amount).toBe(amount);
      expect(parseExactJson(`{"n":${amount},"t":"${amount}"}`)).toEqual({ n: amount, t: amount.toString() });
    }),
  );
});

test("refuses amounts that are not integers instead of rounding them", () => {
  for (const amount of ["1.5", "1.0", "1e6", "-1", '"5"', "null", "true", "[]"])
    expect(faultOf(() => read(TRANSFER.replace("1152921504606846975", amount.replaceAll('"', '\\"'))))).toBe(
      "garbage",
    );
});

test("only 3 is settled; 4 and 5 are refused, and so is 0 in a block", () => {
  const states = [-1n, 0n, 1n, 2n, 3n, 4n, 5n, 6n, 255n].map((status) => [
    transactionStateOf(status, 0n),
    transactionStateOf(status, 7n),
  ]);
  const open = ["notFinal", "notFinal"];
  const done = ["failed", "failed"];
  expect(states).toEqual([
    open,
    ["notFinal", "failed"],
    open,
    open,
    ["final", "final"],
    done,
    done,
    open,
    open,
  ]);
});

test("an unknown transaction is absent, regardless of the HTTP status of the response", () => {
  const unknown = '{"code":21500,"message":"transaction not found"}';
  expect(read(unknown, 400)).toBeUndefined();
  expect(read(unknown)).toBeUndefined();
  expect(read(unknown, 404)).toBeUndefined();
});

test("other responses are the endpoint's fault and prove nothing about the transaction", () => {
  const answers: [string, number?][] = [
    ["<html></html>"],
    ["null"],
    ["[]"],
    ["{}", 500],
    ['{"code":500,"message":"internal"}', 500],
    ['{"code":23000,"message":"too many requests"}', 429],
    ['{"code":200,"message":"not found"}', 200],
    [TRANSFER, 500],
    [TRANSFER.replace('"code":200', '"code":"200"')],
    [TRANSFER.replace(HASH, `00${HASH.slice(2)}`)],
    [TRANSFER.replace('"status":3', '"status":"3"')],
    [TRANSFER.replace('"queued_at":1763298993375', '"queued_at":1763298993')],
    [TRANSFER.replace('"queued_at":1763298993375', '"queued_at":0')],
    [TRANSFER.replace('"executed_at":1763298993242', '"executed_at":0')],
    [TRANSFER.replace('"block_height":97526892', '"block_height":0')],
    [TRANSFER.replace('"account_index":281474976710640', '"account_index":77')],
    [TRANSFER.replace('"nonce":1', '"nonce":2')],
    [TRANSFER.replace('"api_key_index":4', '"api_key_index":5')],
    [TRANSFER.replace('"Memo\\":[171,205', '"Memo\\":[205')],
    [TRANSFER.replace('"Memo\\":[171', '"Memo\\":[256')],
    [TRANSFER.replace(/"info":"(?:[^"\\]|\\.)*"/, '"info":"{}"')],
    [TRANSFER.replace(/"info":"(?:[^"\\]|\\.)*"/, '"info":{}')],
  ];
  for (const [text, status] of answers)
    expect(
      faultOf(() => read(text, status)),
      text,
    ).toBe("garbage");
});

test("refuses a record with any part missing", () => {
  const whole = read(TRANSFER);
  const optional = ["message", "api_key_index"];
  const outer = Object.keys(JSON.parse(TRANSFER) as object);
  for (const name of outer) {
    const text = TRANSFER.replace(
      new RegExp(`"${name}":(?:"(?:[^"\\\\]|\\\\.)*"|\\d+)(?:,|(?=}$))`),
      "",
    ).replace(/,\}$/, "}");
    const outcome = faultOf(() => read(text));
    const isRead = JSON.stringify(outcome, exact) === JSON.stringify(whole, exact);
    expect(isRead || outcome === "garbage", name).toBe(true);
    if (
      [
        "hash",
        "type",
        "info",
        "status",
        "account_index",
        "nonce",
        "block_height",
        "queued_at",
        "executed_at",
        "code",
      ].includes(name)
    )
      expect(outcome, name).toBe("garbage");
    if (optional.includes(name)) expect(isRead, name).toBe(true);
  }
  for (const name of [
    "FromAccountIndex",
    "ApiKeyIndex",
    "ToAccountIndex",
    "AssetIndex",
    "FromRouteType",
    "ToRouteType",
    "Amount",
    "USDCFee",
    "Memo",
    "Nonce",
  ])
    expect(
      faultOf(() => read(TRANSFER.replace(`\\"${name}\\":`, `\\"X${name}\\":`))),
      name,
    ).toBe("garbage");
});

test("reads a transaction that is not a transfer", () => {
  expect(read(TRANSFER.replace('"type":12', '"type":14'))).toMatchObject({
    state: "final",
    transfer: undefined,
  });
});

test("reads hashes and senders from an account's history", () => {
  expect(readLoggedTransfers(200, recorded("logs"))).toEqual([
    { hash: HASH, fromAccountIndex: "460491" },
    {
      hash: "da41a3c23689166e538d94de4ae797401844cf856defe048e89831105fa0dc2dddfcf1f931a0676a",
      fromAccountIndex: "77",
    },
  ]);
  expect(readLoggedTransfers(200, "[]")).toEqual([]);
  const bad = [
    "{}",
    "null",
    "[null]",
    "[{}]",
    recorded("logs").replace(HASH, "../tx"),
    recorded("logs").replace('"from_account_index":"460491",', ""),
  ];
  for (const text of bad)
    expect(
      faultOf(() => readLoggedTransfers(200, text)),
      text,
    ).toBe("garbage");
  expect(faultOf(() => readLoggedTransfers(500, "[]"))).toBe("garbage");
});

test("the address of the contract identifies the network", () => {
  const contract = `0x${"3B".repeat(20)}`;
  expect(readContract(200, JSON.stringify({ contract_address: contract }))).toBe(contract.toLowerCase());
  for (const text of ["{}", "[]", '{"contract_address":"0x12"}', '{"contract_address":7}'])
    expect(faultOf(() => readContract(200, text))).toBe("garbage");
});

function exact(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
