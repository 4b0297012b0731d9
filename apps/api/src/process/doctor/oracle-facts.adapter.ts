import { oracleStatus } from "@causeway/wire";
import type { OracleUrl } from "../../config/oracle-urls.ts";
import type { ClockReading } from "./clock-check.ts";
import type { OracleFacts } from "./oracles-check.ts";
import { readBoundedText } from "../../settlement/bounded-text.ts";

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1_048_576;

/** Requests an oracle's status. @throws TypeError of `fetch`, or an error that describes the problem */
export async function readOracle({
  url,
  apiKey,
}: OracleUrl): Promise<{ readonly facts: OracleFacts; readonly clock: ClockReading | undefined }> {
  const startedAtMs = Date.now();
  const response = await fetch(`${url}/status/v1`, {
    headers: { accept: "application/json", ...(apiKey && { "x-api-key": apiKey.reveal() }) },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    // A redirect could leak the key to another host.
    redirect: "error",
  });
  const clock = clockOf(response, startedAtMs);
  if (response.status !== 200) {
    await response.body?.cancel();
    return { facts: { kind: "refused", httpStatus: response.status }, clock };
  }
  const text = await readBoundedText(response, MAX_BYTES);
  const status = oracleStatus.safeParse(jsonOf(text));
  if (!status.success) throw new Error("the response is not the status of an oracle");
  return { facts: { kind: "status", status: status.data }, clock };
}

/** The `Date` of an HTTP response. It has whole seconds, so half a second is added. */
export function clockOf(response: Response, startedAtMs: number): ClockReading | undefined {
  const theirsMs = Date.parse(response.headers.get("date") ?? "");
  if (Number.isNaN(theirsMs)) return undefined;
  return { theirsMs: theirsMs + 500, oursMs: (startedAtMs + Date.now()) / 2 };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
