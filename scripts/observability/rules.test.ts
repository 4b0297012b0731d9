import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { ALARMS } from "../../apps/api/src/telemetry/alarm-events.ts";
import { oracleRules } from "./oracle-alert-rules.ts";
import { metricsIn, parseExpression } from "./promql-parse.ts";
import { firstFiring } from "./rehearse.ts";
import { seriesDuring, healthy, incidents, SCRAPES } from "./rehearsals.ts";
import { pageOf } from "./rule.ts";
import { serviceRules } from "./service-alert-rules.ts";

const root = resolve(import.meta.dirname, "../..");
const rules = [...serviceRules, ...oracleRules].flatMap((group) => group.rules);

test.each(rules)("$name fires in its incident", (rule) => {
  expect(firstFiring(rule, seriesDuring(rule.name), SCRAPES)).toBeGreaterThanOrEqual(60);
});

test.each(rules)("$name is silent in a healthy system", (rule) => {
  expect(firstFiring(rule, healthy, SCRAPES)).toBeUndefined();
});

test("every rule has a rehearsal, and the healthy system exports what it reads", () => {
  expect(Object.keys(incidents).toSorted()).toEqual(rules.map(({ name }) => name).toSorted());
  const exported = new Set(healthy.map(({ metric }) => metric));
  const missing = rules.flatMap(({ expression }) =>
    metricsIn(parseExpression(expression)).filter((metric) => !exported.has(metric)),
  );
  expect(missing).toEqual([]);
});

test("an alert fires for a worker whose target is gone, whether or not Prometheus still lists it", () => {
  const rule = rules.find(({ name }) => name === "CausewayWorkerMissing");
  if (rule === undefined) throw new Error("no such rule");
  const isUp = (value: number | undefined) =>
    healthy.map((entry) =>
      entry.metric === "up" && entry.labels["job"] === "causeway-worker"
        ? { ...entry, values: entry.values.map(() => value) }
        : entry,
    );
  expect(firstFiring(rule, isUp(0), SCRAPES)).toBe(4);
  expect(firstFiring(rule, isUp(undefined), SCRAPES)).toBe(4);
});

test("a Redis without a limit causes no alert", () => {
  const unlimited = healthy.map((entry) =>
    entry.labels["kind"] === "limit" ? { ...entry, values: entry.values.map(() => 0) } : entry,
  );
  expect(rules.filter((rule) => firstFiring(rule, unlimited, SCRAPES) !== undefined)).toEqual([]);
});

test("a second worker that leads nothing causes no alert", () => {
  const second = healthy
    .filter(({ labels }) => labels["job"] === "causeway-worker")
    .map((entry) => ({
      ...entry,
      labels: { ...entry.labels, instance: "worker-2:3001" },
      values:
        entry.metric === "causeway_chain_leader" || entry.metric === "causeway_settlement_leader"
          ? entry.values.map(() => 0)
          : entry.values,
    }));
  const firing = rules.filter((rule) => firstFiring(rule, [...healthy, ...second], SCRAPES) !== undefined);
  expect(firing).toEqual([]);
});

test("every rule has a page of numbered steps, every page has a rule, and its commands exist", () => {
  const folder = join(root, "docs/runbooks");
  const pages = readdirSync(folder).filter((file) => file !== "README.md");
  expect(pages.toSorted()).toEqual(rules.map((rule) => `${pageOf(rule)}.md`).toSorted());
  const usage = ["operator.ts", "process/commands/report-command.ts"]
    .map((file) => readFileSync(join(root, "apps/api/src", file), "utf8"))
    .join("");
  for (const rule of rules) {
    const text = readFileSync(join(folder, `${pageOf(rule)}.md`), "utf8");
    expect(text, rule.name).toContain(`# ${rule.name}\n`);
    expect(text, rule.name).toMatch(/^1\. .*\n(.*\n)*2\. /m);
    expect(text, rule.name).not.toContain("npm run operator");
    for (const [, command = ""] of text.matchAll(
      /^ *docker compose run --rm --no-deps worker dist\/operator\.js (\w+)/gm,
    ))
      expect(usage, rule.name).toMatch(new RegExp(`operator ${command}|${command.toUpperCase()}_USAGE`));
  }
});

test("every alarm that the source raises is listed, so that its counter starts at zero", () => {
  const source = resolve(root, "apps/api/src");
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  );
  const raised = files.flatMap((file) =>
    [...readFileSync(join(source, file), "utf8").matchAll(/\balarm\(\s*"([a-z_]+)"/g)].map(
      ([, name = ""]) => name,
    ),
  );
  expect(raised.length).toBeGreaterThan(80);
  expect(raised.filter((name) => !(ALARMS as readonly string[]).includes(name))).toEqual([]);
});
