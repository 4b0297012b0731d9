import { StartProblem } from "@causeway/service-kit";
import pg from "pg";
import { expect, test } from "vitest";
import { withDatabaseProblems } from "./database-problem.postgres.ts";

const SERVER = "db.example:6543/causeway";
const URL_WITH_PASSWORD = `postgres://app:hunter2@${SERVER}`;

async function problemOf(error: Error, url = URL_WITH_PASSWORD): Promise<Error> {
  try {
    await withDatabaseProblems(url, async () => {
      throw error;
    });
  } catch (thrown) {
    if (thrown instanceof Error) return thrown;
  }
  throw new Error("no error was thrown");
}

function refusal(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError(`refused with ${code}`, 0, "error"), { code });
}

test.each([
  ["28P01", "correct the user or the password in DATABASE_URL"],
  ["28000", "create that role, or correct the user in DATABASE_URL"],
  ["3D000", "create that database, or correct its name in DATABASE_URL"],
  ["42501", "grant it to the role in DATABASE_URL"],
  ["53300", "raise max_connections, or lower DATABASE_POOL_SIZE of the processes"],
  ["57P03", "wait until it has started, then start again"],
])(
  "names the server and the remedy, but no password, when Postgres refuses with %s",
  async (code, remedy) => {
    const problem = await problemOf(refusal(code));
    expect(problem).toBeInstanceOf(StartProblem);
    expect(problem.message).toBe(`Postgres at ${SERVER} reports: refused with ${code}: ${remedy}`);
  },
);

test.each([
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "ENOENT",
])("names an unreachable server (%s) with its port", async (code) => {
  const problem = await problemOf(Object.assign(new Error("connect"), { code }));
  expect(problem.message).toBe(
    `Postgres does not respond at ${SERVER} (${code}): start it, or correct DATABASE_URL`,
  );
});

test("assumes the default port in a URL without one, and names a socket folder", async () => {
  const unreachable = Object.assign(new Error("connect"), { code: "ENOENT" });
  expect((await problemOf(unreachable, "postgres://app@db.example/causeway")).message).toContain(
    "db.example:5432/causeway",
  );
  expect((await problemOf(unreachable, "postgres:///causeway?host=/run/pg")).message).toContain("/run/pg");
});

test("rethrows other errors unchanged", async () => {
  const error = refusal("42P01");
  expect(await problemOf(error)).toBe(error);
});
