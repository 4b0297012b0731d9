import type { Metric, Registry } from "prom-client";

const NAME = "http_request_duration_seconds";
const BOUNDS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000];

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** One per bound, not cumulative, and the rest. */
  readonly counts: number[];
  sumMs: number;
}

/** Notes that a request of one route was answered. */
export type NoteAnswer = (status: number, tookMs: number) => void;

/**
 * The histogram `http_request_duration_seconds` by method, route and status. Kept here instead of in a client-library histogram, which checks and
 * hashes its labels on every observation: a tenth of a fast route's time. Series exist once a route has given that status.
 */
export function routeTimes(registry: Registry): (method: string, route: string) => NoteAnswer {
  const all: Series[] = [];
  const metric = {
    name: NAME,
    help: "Time from the head of a request to the end of its answer",
    type: "histogram",
    aggregator: "sum",
    get: async () => ({ ...metric, values: all.flatMap(samples) }),
  };
  // The registry calls nothing but `name` and `get`; its type asks for one of the library's own classes.
  registry.registerMetric(metric as unknown as Metric);

  return (method, route) => {
    const byStatus = new Map<number, Series>();
    return (status, tookMs) => {
      let series = byStatus.get(status);
      if (series === undefined) {
        const labels = { method, route, status: String(status) };
        series = { labels, counts: [...BOUNDS_MS.map(() => 0), 0], sumMs: 0 };
        byStatus.set(status, series);
        all.push(series);
      }
      let bucket = 0;
      while (bucket < BOUNDS_MS.length && tookMs > (BOUNDS_MS[bucket] ?? 0)) bucket++;
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
      series.sumMs += tookMs;
    };
  };
}

function samples({ labels, counts, sumMs }: Series): object[] {
  let total = 0;
  const buckets = counts.map((count, at) => {
    total += count;
    const bound = BOUNDS_MS[at];
    return {
      metricName: `${NAME}_bucket`,
      labels: { ...labels, le: bound === undefined ? "+Inf" : bound / 1000 },
      value: total,
    };
  });
  return [
    ...buckets,
    { metricName: `${NAME}_sum`, labels, value: sumMs / 1000 },
    { metricName: `${NAME}_count`, labels, value: total },
  ];
}
