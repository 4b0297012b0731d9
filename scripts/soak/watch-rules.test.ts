import { expect, test } from "vitest";
import { seriesDuring, healthy, SCRAPES } from "../observability/rehearsals.ts";
import { samplesIn, seriesOfScrapes } from "./scraped.ts";
import { judgeContinued, judgeRules } from "./watch-rules.ts";

test("reads samples with escaped labels and ignores everything else", () => {
  const page = `# TYPE a counter\na 1\nb_bucket{le="+Inf",text="x\\"y, z=\\\\"} 2.5e3\nnot a sample\n`;
  expect(samplesIn(page)).toEqual([
    { metric: "a", labels: {}, value: 1 },
    { metric: "b_bucket", labels: { le: "+Inf", text: `x"y, z=\\` }, value: 2_500 },
  ]);
});

test("a series that is missing from a scrape has a gap there", () => {
  const { add, all } = seriesOfScrapes();
  const sample = (value: number) => [{ metric: "a", labels: { b: "c" }, value }];
  add(0, sample(1));
  add(2, sample(3));
  expect(all()).toEqual([{ metric: "a", labels: { b: "c" }, values: [1, undefined, 3] }]);
});

test("a healthy system causes no problem, and an alert that fires is one", () => {
  expect(judgeRules(healthy, SCRAPES, 15).problems).toEqual([]);
  const { problems } = judgeRules(seriesDuring("CausewayOutboxGrowing"), SCRAPES, 15);
  expect(problems).toEqual([expect.stringMatching(/^the alert CausewayOutboxGrowing fired after \d+ s/)]);
});

test("names an alert that was pending", () => {
  const brief = seriesDuring("CausewayOutboxGrowing").map((entry) =>
    entry.metric === "causeway_outbox_oldest_seconds"
      ? { ...entry, values: entry.values.map((_, scrape) => (scrape === 70 ? 600 : 0)) }
      : entry,
  );
  const { problems, remarks } = judgeRules(brief, SCRAPES, 15);
  expect(problems).toEqual([]);
  expect(remarks).toContainEqual("CausewayOutboxGrowing was pending after 1050 s but did not fire: {}");
});

test("judges a short run as if its last state continued", () => {
  const firstScrapes = (series: typeof healthy) =>
    series.map((entry) => ({ ...entry, values: entry.values.slice(60, 72) }));
  expect(judgeContinued(firstScrapes(healthy), 12, 15).problems).toEqual([]);
  const behind = firstScrapes(healthy).map((entry) =>
    entry.metric === "causeway_scan_lag_seconds"
      ? { ...entry, values: entry.values.map((_, scrape) => (scrape === 11 ? 400 : 0)) }
      : entry,
  );
  expect(judgeRules(behind, 12, 15).problems).toEqual([]);
  expect(judgeContinued(behind, 12, 15).problems).toEqual([
    expect.stringMatching(/^the alert CausewayScanBehind fired/),
  ]);
  const brief = behind.map((entry) =>
    entry.metric === "causeway_scan_lag_seconds" ? { ...entry, values: entry.values.toReversed() } : entry,
  );
  expect(judgeContinued(brief, 12, 15).problems).toEqual([]);
});
