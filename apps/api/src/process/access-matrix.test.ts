import type { InjectOptions } from "fastify";
import { readFile } from "node:fs/promises";
import { afterAll, expect, test } from "vitest";
import { examples, OPERATOR_TOKEN, PAGE, startAccessWorld } from "../../../../test/support/access-world.ts";
import { KNOWN_REQUEST_ID } from "../../../../test/fakes/route-services.ts";
import { socketClient } from "../../../../test/support/socket-client.ts";

/** The columns of the table in docs/ACCESS.md. `page`: a publishable key, sent from an allowed web page. */
const callers = ["none", "page", "no scope", "own", "other", "operator"] as const;
type Caller = (typeof callers)[number];

interface Row {
  readonly route: string;
  readonly request: string;
  readonly scope: string;
  readonly expected: Readonly<Record<Caller, string>>;
}

const nameOf = ({ route, request }: Row): string => (request === "" ? route : `${route}, ${request}`);

const rows = readTable(await readFile(new URL("../../../../docs/ACCESS.md", import.meta.url), "utf8"));
const { app, url, routes } = await startAccessWorld();
afterAll(() => app.close());

test("every route has a row in docs/ACCESS.md, and every row a route", () => {
  const inTable = new Set(rows.map(({ route }) => route).filter((route) => !route.startsWith("WS ")));
  expect([...routes].toSorted()).toEqual([...inTable].toSorted());
});

test("docs/ACCESS.md contains no duplicate rows", () => {
  const names = rows.map(nameOf);
  expect(names).toEqual([...new Set(names)]);
});

test.for(rows.map((row) => [nameOf(row), row] as const))("%s", async ([name, row]) => {
  expect(await answersTo(name, row)).toEqual(row.expected);
});

test("refuses a HEAD request like the corresponding GET request", async () => {
  for (const row of rows.filter(({ route }) => route.startsWith("GET "))) {
    const example = exampleOf(nameOf(row));
    for (const caller of callers) {
      const answer = await app.inject({ ...example, method: "HEAD", headers: headersOf(caller, row.scope) });
      expect([nameOf(row), caller, answerClass(answer.statusCode)]).toEqual([
        nameOf(row),
        caller,
        row.expected[caller],
      ]);
    }
  }
});

test("every route that reads keys refuses unknown keys, and publishable keys of another origin", async () => {
  for (const row of rows.filter(
    ({ route, expected }) => !route.startsWith("WS ") && expected.operator === "401",
  )) {
    if (row.route === "GET /metrics") continue;
    const example = exampleOf(nameOf(row));
    const elsewhere = await app.inject({
      ...example,
      headers: { "x-api-key": "page", origin: "https://evil.example" },
    });
    const unknown = await app.inject({ ...example, headers: { "x-api-key": "nobody" } });
    expect([nameOf(row), elsewhere.statusCode, unknown.statusCode]).toEqual([
      nameOf(row),
      row.route === "POST /execute" ? 401 : 403,
      401,
    ]);
  }
});

async function answersTo(name: string, row: Row): Promise<Record<Caller, string>> {
  const answers = callers.map(async (caller) => {
    const answer = row.route.startsWith("WS ")
      ? await socketAnswer(row, caller)
      : answerClass(
          (await app.inject({ ...exampleOf(name), headers: headersOf(caller, row.scope) })).statusCode,
        );
    return [caller, answer] as const;
  });
  return Object.fromEntries(await Promise.all(answers)) as Record<Caller, string>;
}

/** `yes` for 2xx and redirects. Other statuses mean that access was refused, or that the example is wrong. */
function answerClass(status: number): string {
  if (status >= 200 && status < 400) return "yes";
  return String(status);
}

async function socketAnswer({ route, request, scope }: Row, caller: Caller): Promise<string> {
  const path = route.slice("WS ".length);
  const opened = await socketClient(`${url}${path}`, headersOf(caller, scope)).catch((error: unknown) =>
    String(error),
  );
  if (typeof opened === "string") return /Unexpected server response: (\d+)/.exec(opened)?.[1] ?? opened;
  opened.subscribe(request === "subscribe to all" ? undefined : KNOWN_REQUEST_ID);
  const [, answer] = await opened.waitForFrames(2);
  opened.socket.close();
  if (answer?.type === "subscribe") return "yes";
  return { UNAUTHORIZED: "401", FORBIDDEN: "403" }[answer?.errorCode ?? ""] ?? JSON.stringify(answer);
}

function headersOf(caller: Caller, scope: string): Record<string, string> {
  if (caller === "none") return {};
  if (caller === "operator") return { authorization: `Bearer ${OPERATOR_TOKEN}` };
  if (caller === "no scope") return { "x-api-key": `no ${scope}` };
  return { "x-api-key": caller, ...(caller === "page" && { origin: PAGE }) };
}

/** @throws when the row has no example */
function exampleOf(name: string): InjectOptions {
  const example = examples[name];
  if (example === undefined)
    throw new Error(`add an example request for ${name} to test/support/access-world.ts`);
  return example;
}

function readTable(page: string): Row[] {
  const lines = page.split("\n").filter((line) => line.startsWith("| "));
  return lines.slice(2).map((line) => {
    const [route = "", request = "", scope = "", ...cells] = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    const expected = Object.fromEntries(callers.map((caller, column) => [caller, cells[column]]));
    return { route, request, scope, expected: expected as Row["expected"] };
  });
}
