import { setTimeout as sleep } from "node:timers/promises";
import type { System } from "@causeway/localnet";
import { oracleRules } from "../observability/oracle-alert-rules.ts";
import type { Series } from "../observability/promql-evaluate.ts";
import { metricsIn, parseExpression } from "../observability/promql-parse.ts";
import { alertTimeline } from "../observability/rehearse.ts";
import { serviceRules } from "../observability/service-alert-rules.ts";
import { samplesIn, seriesOfScrapes } from "./scraped.ts";

/** Shorter than in production, so that a condition of a few seconds is not missed. */
const EVERY_SECONDS = 5;

const rules = [...serviceRules, ...oracleRules].flatMap((group) => group.rules);
const rulesMetrics = new Set(rules.flatMap(({ expression }) => metricsIn(parseExpression(expression))));

/** What the rules of Prometheus would have reported. */
export interface RulesReport {
  readonly remarks: readonly string[];
  /** One for each alert that fired. */
  readonly problems: readonly string[];
  /** Whether an alert would fire if the last observed state continued. */
  readonly isPending: boolean;
}

/** Longer than the longest window and delay of a rule together. */
const DECIDED_WITHIN_MS = 16 * 60_000;

/** Scrapes every process of a system until it is stopped, and evaluates the alert rules on the series. */
export interface WatchedRules {
  /** Continues while an alert is pending: the end of a run must not hide it. */
  stop(signal: AbortSignal): Promise<RulesReport>;
  /** Stops immediately, and judges as if the last observed state continued. */
  stopNow(): Promise<RulesReport>;
}

/** @param everySeconds between two scrapes */
export function watchRules(
  system: Pick<System, "apis" | "workers" | "oracles" | "endpoints">,
  metricsToken: string,
  everySeconds = EVERY_SECONDS,
): WatchedRules {
  const bearer = { authorization: `Bearer ${metricsToken}` };
  const targets = [
    ...system.apis.map(({ url, name }) => ({ job: "causeway-api", url, name, headers: bearer })),
    ...system.workers.map(({ url, name }) => ({ job: "causeway-worker", url, name, headers: bearer })),
    ...system.endpoints.oracles.map(({ url, apiKey }, index) => ({
      job: "causeway-oracle",
      url,
      name: `oracle-${index}`,
      headers: { "x-api-key": apiKey },
    })),
  ];
  const collected = seriesOfScrapes();
  const stopped = new AbortController();
  let scrapes = 0;
  const loop = (async () => {
    while (!stopped.signal.aborted) {
      const pause = sleep(everySeconds * 1_000, undefined, { signal: stopped.signal }).catch(() => undefined);
      const pages = await Promise.all(
        targets.map(async ({ job, url, name: instance, headers }) => {
          const page = await fetch(`${url}/metrics`, { headers, signal: AbortSignal.timeout(4_000) }).then(
            async (answer) => (answer.ok ? await answer.text() : undefined),
            () => undefined,
          );
          const labels = { job, instance };
          const samples = samplesIn(page ?? "").filter(({ metric }) => rulesMetrics.has(metric));
          return [
            { metric: "up", labels, value: page === undefined ? 0 : 1 },
            ...samples.map((sample) => ({ ...sample, labels: { ...sample.labels, ...labels } })),
          ];
        }),
      );
      collected.add(scrapes, pages.flat());
      scrapes += 1;
      await pause;
    }
  })();
  return {
    async stop(signal) {
      const untilMs = performance.now() + DECIDED_WITHIN_MS;
      for (;;) {
        const report = judgeRules(collected.all(), scrapes, everySeconds);
        const isDecided = report.problems.length > 0 || !report.isPending;
        if (isDecided || signal.aborted || performance.now() > untilMs) {
          stopped.abort();
          await loop;
          return report;
        }
        await sleep(everySeconds * 1_000, undefined, { signal }).catch(() => undefined);
      }
    },
    async stopNow() {
      stopped.abort();
      await loop;
      return judgeContinued(collected.all(), scrapes, everySeconds);
    },
  };
}

/**
 * Evaluates the rules as if every series kept its last value for as long as any rule needs to fire: a short
 * run shows which alerts a state would raise. Counters stay constant, so momentary faults end.
 */
export function judgeContinued(series: readonly Series[], scrapes: number, stepSeconds: number): RulesReport {
  const addedScrapes = Math.ceil(DECIDED_WITHIN_MS / 1_000 / stepSeconds);
  const continued = series.map((entry) => {
    const last = entry.values[scrapes - 1];
    return {
      ...entry,
      values: [...entry.values, ...(last === undefined ? [] : Array<number>(addedScrapes).fill(last))],
    };
  });
  return judgeRules(continued, scrapes + addedScrapes, stepSeconds);
}

/** Evaluates the rules on collected series. */
export function judgeRules(series: readonly Series[], scrapes: number, stepSeconds: number): RulesReport {
  const timelines = rules.map((rule) => ({ rule, ...alertTimeline(rule, series, scrapes, stepSeconds) }));
  const timeOf = (scrape: number): string => `after ${scrape * stepSeconds} s`;
  return {
    remarks: [
      `${rules.length} alert rules watched ${series.length} series over ${scrapes} scrapes`,
      ...timelines.flatMap(({ rule, pendingAt, firingAt, labels }) =>
        pendingAt !== undefined && firingAt === undefined
          ? [`${rule.name} was pending ${timeOf(pendingAt)} but did not fire: ${labels ?? ""}`]
          : [],
      ),
    ],
    isPending: timelines.some(({ isPending }) => isPending),
    problems: timelines.flatMap(({ rule, firingAt, labels }) =>
      firingAt === undefined ? [] : [`the alert ${rule.name} fired ${timeOf(firingAt)}: ${labels ?? ""}`],
    ),
  };
}
