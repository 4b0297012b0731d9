import type { Registry } from "prom-client";
import { durations, type NoteDuration } from "./durations.ts";

const BOUNDS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000];

/** Records that a request of one route was answered. */
export type NoteAnswer = (status: number, tookMs: number) => void;

/**
 * The histogram `http_request_duration_seconds` by method, route and status. A series exists once a route has
 * returned that status.
 */
export function routeTimes(registry: Registry): (method: string, route: string) => NoteAnswer {
  const seriesOf = durations(registry, {
    name: "http_request_duration_seconds",
    help: "Time from the headers of a request to the end of its response",
    boundsMs: BOUNDS_MS,
  });
  return (method, route) => {
    const noteByStatus = new Map<number, NoteDuration>();
    return (status, tookMs) => {
      let note = noteByStatus.get(status);
      if (note === undefined) {
        note = seriesOf({ method, route, status: String(status) });
        noteByStatus.set(status, note);
      }
      note(tookMs);
    };
  };
}
