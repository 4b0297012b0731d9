import { quoteRequest, statusQuery } from "@causeway/wire";
import { expect, test } from "vitest";
import { plainQuoteBody, plainStatusQuery } from "./plain-inputs.ts";

const address = "0x000000000000000000000000000000000000dEaD";
const required = {
  user: address,
  originChainId: 11,
  destinationChainId: 12,
  originCurrency: address,
  destinationCurrency: address,
  amount: "1000000",
};
const optional = { tradeType: "EXACT_OUTPUT", recipient: address, refundTo: address, referrer: "someone" };

const values: readonly unknown[] = [
  undefined,
  null,
  true,
  false,
  0,
  -0,
  1,
  -1,
  1.5,
  2 ** 53 - 1,
  2 ** 53,
  1e308,
  Number.NaN,
  "",
  " ",
  "0",
  "1",
  "-1",
  "1e3",
  "0x",
  "０",
  "1\n",
  "\ud800",
  "é",
  "EXACT_INPUT",
  "EXPECTED_OUTPUT",
  "exact_input",
  "debug-force-refund",
  "__proto__",
  "toString",
  ...[77, 78, 79, 127, 128, 129, 512, 513].flatMap((length) => ["9".repeat(length), "é".repeat(length)]),
  `0x${"aB".repeat(32)}`,
  `0x${"aB".repeat(32)}\n`,
  `0x${"aG".repeat(32)}`,
  `0X${"ab".repeat(32)}`,
  [],
  ["1"],
  {},
  { length: 3 },
  [`0x${"ab".repeat(32)}`],
];

/** What the plain reader knows must be what the schema says. Returns whether it knew. */
function agrees(
  read: (input: unknown) => object | undefined,
  schema: typeof quoteRequest | typeof statusQuery,
  input: unknown,
): boolean {
  const plain = read(input);
  if (plain === undefined) return false;
  expect(schema.safeParse(input)).toStrictEqual({ success: true, data: plain });
  return true;
}

const bodyAgrees = (input: unknown) => agrees(plainQuoteBody, quoteRequest, input);
const queryAgrees = (input: unknown) => agrees(plainStatusQuery, statusQuery, input);

test("bodies of the usual forms are read without the schema, as the schema reads them", () => {
  expect(bodyAgrees(required)).toBe(true);
  expect(bodyAgrees({ ...required, ...optional })).toBe(true);
  for (const [name, value] of Object.entries(optional))
    expect(bodyAgrees({ ...required, [name]: value })).toBe(true);
  expect(queryAgrees({ requestId: `0x${"aB".repeat(32)}` })).toBe(true);
});

test("whatever any field holds, nothing is read otherwise than the schema does", () => {
  const names = [...Object.keys({ ...required, ...optional }), "ttl", "usePermit", "unknown", "constructor"];
  for (const base of [required, { ...required, ...optional }])
    for (const name of names)
      for (const value of values) {
        // As bodies come: a JSON text holds no undefined and no NaN.
        bodyAgrees(JSON.parse(JSON.stringify({ ...base, [name]: value })));
        bodyAgrees(JSON.parse(JSON.stringify({ ...base, [name]: value, tradeType: value })));
      }
  for (const name of ["requestId", "referrer", "other"])
    for (const value of values) {
      queryAgrees({ [name]: value });
      queryAgrees({ requestId: `0x${"ab".repeat(32)}`, [name]: value });
    }
});

test("what a field may not hold is left to the schema's words", () => {
  for (const [name, value] of Object.entries({
    user: "",
    originChainId: 0,
    destinationChainId: "12",
    originCurrency: 1,
    destinationCurrency: "x".repeat(129),
    amount: "9".repeat(78),
    tradeType: "exact",
    recipient: null,
    refundTo: "",
    referrer: "x".repeat(513),
    slippageTolerance: "50",
  }))
    expect(plainQuoteBody({ ...required, [name]: value }), name).toBeUndefined();
  for (const input of [undefined, null, "text", 1, [], [required], JSON.parse('{"__proto__":1}'), {}])
    expect([plainQuoteBody(input), plainStatusQuery(input)]).toEqual([undefined, undefined]);
});
