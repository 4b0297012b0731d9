import type { SigningRecord } from "./signing-rules.port.ts";

/** The state of the record for readiness. */
export async function checkRecord(
  record: Pick<SigningRecord, "check" | "aheadMs">,
): Promise<{ readonly ready: boolean; readonly detail: string }> {
  try {
    await record.check();
  } catch (error) {
    return { ready: false, detail: error instanceof Error ? error.message : String(error) };
  }
  const aheadMs = record.aheadMs();
  return {
    ready: true,
    detail: aheadMs > 0 ? `the record is ahead of the clock by ${Math.ceil(aheadMs / 1_000)} seconds` : "ok",
  };
}
