import { garbage } from "../../rpc-fault.ts";

/** The events of one program in the logs of a transaction. Pure. */

/**
 * The surrounding calls show which program wrote a line: any program can write logs, but only within its own
 * calls.
 */
const BEGIN = /^Program (\w+) invoke \[(\d+)\]$/;
const END = /^Program (\w+) (?:success$|failed)/;
const DATA = "Program data: ";

/**
 * The events of a program in log order; `cut`: the node truncated the logs, so events may be missing.
 * @throws RpcFault if calls in the logs are not properly nested
 */
export function eventsOf(program: string, logs: readonly string[]): readonly Uint8Array[] | "cut" {
  const callers: string[] = [];
  const events: Uint8Array[] = [];
  for (const line of logs) {
    if (line === "Log truncated") return "cut";
    const began = BEGIN.exec(line);
    if (began?.[1] !== undefined) {
      if (Number(began[2]) !== callers.length + 1)
        throw garbage("getTransaction", "calls are missing in the logs");
      callers.push(began[1]);
      continue;
    }
    const ended = END.exec(line);
    if (ended !== null) {
      if (callers.pop() !== ended[1]) throw garbage("getTransaction", "calls are missing in the logs");
      continue;
    }
    if (callers.at(-1) === program && line.startsWith(DATA)) {
      // A log line contains one base64 text per field, and programs log an event as a single field.
      const [event, ...otherFields] = line.slice(DATA.length).split(" ");
      if (event !== undefined && otherFields.length === 0)
        events.push(Uint8Array.from(Buffer.from(event, "base64")));
    }
  }
  if (callers.length > 0) throw garbage("getTransaction", "call has no end in the logs");
  return events;
}
