import { expect, test } from "vitest";
import { figuresOf, type Figures } from "./figures.ts";

const figure = (name: keyof Figures, ...files: readonly (readonly [path: string, text: string])[]) =>
  figuresOf(files.map(([path, text]) => ({ path, text })))[name];

test("events count where a transaction is open, unless they are the transaction's own", () => {
  const countEvents = (text: string): number => figure("eventsInsideTransactions", ["a/b.ts", text]);
  expect(countEvents("function f(tx) { services.events.alarm('x', {}); }")).toBe(1);
  expect(countEvents("run(async (tx) => { events.happened('x', {}); });")).toBe(1);
  expect(countEvents("function f({ tx, services }) { services.events.alarm('x', {}); }")).toBe(1);
  expect(countEvents("function f(tx) { tx.events.alarm('x', {}); }")).toBe(0);
  expect(countEvents("function f(services) { services.events.alarm('x', {}); }")).toBe(0);
});

test("events count where `uow.run` opens a transaction, regardless of the name of its parameter", () => {
  const countEvents = (text: string): number => figure("eventsInsideTransactions", ["a/b.ts", text]);
  const foreign = "services.events.happened('x', {});";
  expect(countEvents(`uow.run(async (t) => { ${foreign} });`)).toBe(1);
  expect(countEvents(`services.uow.run(async ({ requests }) => { ${foreign} }, options);`)).toBe(1);
  expect(countEvents(`uow.run(async () => { ${foreign} });`)).toBe(1);
  expect(countEvents("uow.run(({ requests }) => events.happened('x', {}));")).toBe(1);
  expect(countEvents("uow.run(async (t) => { t.events.happened('x', {}); });")).toBe(0);
  expect(countEvents("uow.run(({ events }) => { events.happened('x', {}); });")).toBe(0);
  expect(countEvents(`await uow.run((t) => t.requests.save(a)); ${foreign}`)).toBe(0);
  expect(countEvents(`runner.run(async (t) => { ${foreign} });`)).toBe(0);
});

test("events count in functions with a parameter of type `Tx`", () => {
  const countEvents = (text: string): number => figure("eventsInsideTransactions", ["a/b.ts", text]);
  expect(countEvents("function f(t: Tx) { services.events.alarm('x', {}); }")).toBe(1);
  expect(countEvents("const f = ({ lanes }: Pick<Tx, 'lanes'>) => services.events.alarm('x', {});")).toBe(1);
  expect(countEvents("function f(t: Tx) { t.events.alarm('x', {}); }")).toBe(0);
});

test("casts count in SQL files, except `as const`", () => {
  const text = "const a = row.id as Hex; const b = [1] as const;";
  expect(figure("castsInDatabaseCode", ["a/b.postgres.ts", text])).toBe(1);
  expect(figure("castsInDatabaseCode", ["a/b.ts", text])).toBe(0);
});

test.each([
  "'select id from a'",
  "`with b as (select) select`",
  "`update ${a} set b = 1`",
  "sql`insert into ${a} (b)`",
])("casts count in any file with SQL: %s", (text) => {
  expect(figure("castsInDatabaseCode", ["a/b.adapter.ts", `f(${text}); row.id as Hex;`])).toBe(1);
});

test.each(["'selected'", "'update the key'", "`with ${a}`"])(
  "casts do not count in a file without SQL: %s",
  (text) => {
    expect(figure("castsInDatabaseCode", ["a/b.adapter.ts", `f(${text}); row.id as Hex;`])).toBe(0);
  },
);

test("a type that a query or its template only claims is a cast", () => {
  const countCasts = (text: string): number => figure("castsInDatabaseCode", ["a/b.postgres.ts", text]);
  expect(countCasts("client.query<{ id: number }>(statement);")).toBe(1);
  expect(countCasts("query<Row>(statement);")).toBe(1);
  expect(countCasts("const a = text<boolean>`false`;")).toBe(1);
  expect(countCasts("const a = text<number>`count(*)`.mapWith(Number);")).toBe(0);
  expect(countCasts("client.query(statement); new Map<string, Row>(); run<Row>(statement);")).toBe(0);
});

test("two rooms count as a pair only if they import each other", () => {
  const [up, down] = ['import { x } from "../b/x.ts";', 'import { y } from "../../a/y.ts";'];
  expect(figure("mutualPairs", ["a/y.ts", up], ["b/deep/x.ts", down])).toBe(1);
  expect(figure("mutualPairs", ["a/y.ts", up], ["b/deep/x.ts", ""])).toBe(0);
});

test.each([
  "if (isNonEvm(x)) f();",
  'if (chain.vmType === "evm") f();',
  'if ("evm" !== vmType) f();',
  "switch (chain.vmType) {}",
  'if (vm === "solana-vm") f();',
  'if ("depository" in chain) f();',
  "if (origin.chain.exchange !== undefined) f();",
  "if (chain.bitcoin === undefined) f();",
  "if (chains.nonEvm(id) !== undefined) f();",
  "if ((nonEvm(a) ?? nonEvm(b)) !== undefined) f();",
  "ends.some((nonEvm) => nonEvm !== undefined);",
  "const nonEvm = services.chains.nonEvm(id); if (nonEvm === undefined) f();",
])("counts a branch on the kind of a chain: %s", (text) => {
  expect(figure("chainKindBranches", ["a/b.ts", text])).toBe(1);
});

test.each([
  "if (a === b) f();",
  "const end = chains.get(id) ?? chains.nonEvm(id);",
  "const { pulse } = chains.nonEvm(id); if (pulse === undefined) f();",
  "if (swap.exchange === undefined) f();",
])("does not count a branch on anything else: %s", (text) => {
  expect(figure("chainKindBranches", ["a/b.ts", text])).toBe(0);
});
