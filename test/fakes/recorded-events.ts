import type { EventName, Events, Facts } from "../../apps/api/src/db/events.port.ts";

export interface RecordedEvent {
  readonly level: "happened" | "alarm" | "fault";
  readonly event: EventName;
  readonly facts: Facts;
  readonly error?: unknown;
}

/** Events that are recorded for a test to inspect. */
export interface RecordedEvents extends Events {
  readonly all: readonly RecordedEvent[];
  of(event: EventName): readonly RecordedEvent[];
}

export function recordedEvents(): RecordedEvents {
  const all: RecordedEvent[] = [];
  return {
    all,
    of: (event) => all.filter((recorded) => recorded.event === event),
    happened: (event, facts) => void all.push({ level: "happened", event, facts }),
    alarm: (event, facts) => void all.push({ level: "alarm", event, facts }),
    fault: (event, error, facts) => void all.push({ level: "fault", event, facts, error }),
  };
}
