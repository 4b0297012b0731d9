import { Counter, Gauge } from "prom-client";
import type { Registry } from "prom-client";

/** Figures of open connections. */
export interface PushFigures {
  readonly sockets: number;
  readonly streams: number;
  readonly subscriptions: number;
  readonly followed: number;
  readonly messages: number;
  readonly changes: number;
  readonly closed: number;
  readonly losses: number;
}

const gauges = {
  sockets: "WebSocket connections",
  streams: "Streams of server-sent events",
  subscriptions: "Subscriptions of sockets",
  followed: "Requests followed by clients of this process",
} as const satisfies Partial<Record<keyof PushFigures, string>>;
const counters = {
  messages: "Events sent to clients",
  changes: "Request changes read for subscribers",
  closed: "Connections closed by the service: slow, silent, or possibly missed events",
  losses: "How often announcements of changes may have been missed",
} as const satisfies Partial<Record<keyof PushFigures, string>>;

/** Publishes the figures with each scrape. */
export function pushGauges(registry: Registry, figures: () => PushFigures): void {
  for (const name of keysOf(gauges))
    void new Gauge({
      name: `causeway_push_${name}`,
      help: gauges[name],
      registers: [registry],
      collect() {
        this.set(figures()[name]);
      },
    });
  for (const name of keysOf(counters)) {
    let published = 0;
    void new Counter({
      name: `causeway_push_${name}_total`,
      help: counters[name],
      registers: [registry],
      collect() {
        const current = figures()[name];
        this.inc(current - published);
        published = current;
      },
    });
  }
}

const keysOf = <Name extends string>(record: Readonly<Record<Name, unknown>>): Name[] =>
  Object.keys(record) as Name[];
