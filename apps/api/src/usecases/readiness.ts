import type { Services } from "../ports/services.ts";

/** How long the database may take to answer, ms. */
const DATABASE_DEADLINE_MS = 2_000;

/**
 * Whether this process can do its work: the database answers, and at least one chain is followed. A single chain that is away makes its own routes fail and nothing else,
 * so it is told but does not take the process out of service.
 */
export async function readiness(
  services: Pick<Services, "reads" | "chains">,
): Promise<{ ready: boolean; checks: Record<string, string> }> {
  const checks: Record<string, string> = {};
  checks["database"] = await answers(() => services.reads.ping(), DATABASE_DEADLINE_MS);
  let followed = 0;
  for (const { chain, pulse } of services.chains.all) {
    const state = pulse.head() === undefined ? "no block heard of yet" : pulse.lagging() ? "lagging" : "ok";
    if (state === "ok") followed++;
    checks[chain.name] = state;
  }
  return { ready: checks["database"] === "ok" && followed > 0, checks };
}

async function answers(ask: () => Promise<void>, deadlineMs: number): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve("does not answer in time"), deadlineMs);
  });
  try {
    return await Promise.race([ask().then(() => "ok"), late]);
  } catch {
    return "does not answer";
  } finally {
    clearTimeout(timer);
  }
}
