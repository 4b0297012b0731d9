import type { Series } from "../observability/promql-evaluate.ts";

/** One sample of a metrics page. */
export interface ScrapedSample {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads Prometheus's text format. Lines that are not samples are ignored. */
export function samplesIn(page: string): readonly ScrapedSample[] {
  return page.split("\n").flatMap((line) => {
    const [, metric, labels = "", value] =
      /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: -?\d+)?$/.exec(line) ?? [];
    if (metric === undefined || value === undefined) return [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = "", text = ""]) => [
      name,
      text.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped)),
    ]);
    return [{ metric, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }];
  });
}

/** Collects samples of several scrapes into series. */
export function seriesOfScrapes(): {
  add(scrape: number, samples: readonly ScrapedSample[]): void;
  all(): readonly Series[];
} {
  const seriesByKey = new Map<string, Series & { readonly values: (number | undefined)[] }>();
  return {
    add(scrape, samples) {
      for (const { metric, labels, value } of samples) {
        const key = `${metric} ${JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))}`;
        let collected = seriesByKey.get(key);
        if (collected === undefined) {
          collected = { metric, labels, values: [] };
          seriesByKey.set(key, collected);
        }
        // A scrape without the series leaves a gap.
        while (collected.values.length < scrape) collected.values.push(undefined);
        collected.values[scrape] = value;
      }
    },
    all: () => [...seriesByKey.values()],
  };
}
