import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { oracleRules } from "./oracle-alert-rules.ts";
import { SCRAPE_SECONDS, type Series } from "./promql-evaluate.ts";
import { firstFiring } from "./rehearse.ts";
import { seriesDuring, healthy, SCRAPES } from "./rehearsals.ts";
import { serviceRules } from "./service-alert-rules.ts";

const rules = [...serviceRules, ...oracleRules].flatMap((group) => group.rules);

/**
 * Checks the rules with Prometheus's own tool, and repeats every rehearsal with its engine. Prints a warning
 * if the tool is not installed.
 */
export function checkWithPromtool(folder: string): boolean {
  const files = ["rules.yml", "oracle-rules.yml"].map((file) => join(folder, file));
  const checked = spawnSync("promtool", ["check", "rules", ...files], { encoding: "utf8" });
  if (checked.error !== undefined) {
    console.log(
      "promtool: NOT RUN: not installed (Debian package prometheus); the rules were checked without it",
    );
    return true;
  }
  const home = mkdtempSync(join(tmpdir(), "causeway-rules-"));
  try {
    const file = join(home, "tests.json");
    writeFileSync(file, JSON.stringify(promtoolTests(files)));
    const tested = spawnSync("promtool", ["test", "rules", file], { encoding: "utf8" });
    const isOk = checked.status === 0 && tested.status === 0;
    if (!isOk) console.error(`${checked.stdout}${checked.stderr}${tested.stdout}${tested.stderr}`);
    else console.log(`promtool: ${rules.length} rules fire in their incident and are silent without it`);
    return isOk;
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** The rehearsals in the format of `promtool test rules`; JSON is valid YAML. */
function promtoolTests(files: readonly string[]): object {
  const seconds = (scrape: number): string => `${scrape * SCRAPE_SECONDS}s`;
  const rehearsal = (series: readonly Series[], checks: readonly object[]): object => ({
    interval: `${SCRAPE_SECONDS}s`,
    input_series: series.map(inputOf),
    promql_expr_test: checks,
  });
  const count = (name: string, scrape: number, value: number): object => ({
    expr: `sum(ALERTS{alertname="${name}", alertstate="firing"} or vector(0))`,
    eval_time: seconds(scrape),
    exp_samples: [{ labels: "{}", value }],
  });
  return {
    rule_files: files,
    evaluation_interval: `${SCRAPE_SECONDS}s`,
    tests: [
      rehearsal(
        healthy,
        rules.flatMap(({ name }) => [50, 120, SCRAPES - 1].map((scrape) => count(name, scrape, 0))),
      ),
      ...rules.map((rule) => {
        const series = seriesDuring(rule.name);
        const fires = firstFiring(rule, series, SCRAPES) ?? SCRAPES;
        // Two scrapes later: Prometheus extrapolates rates, so they differ from ours.
        return rehearsal(series, [{ ...count(rule.name, fires + 2, 1) }]);
      }),
    ],
  };
}

function inputOf({ metric, labels, values }: Series): object {
  const names = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return {
    series: `${metric}{${names.join(",")}}`,
    values: values
      // A series that ends is marked stale by the next scrape.
      .map((value, index) => value ?? (index > 0 && values[index - 1] !== undefined ? "stale" : "_"))
      .join(" "),
  };
}
