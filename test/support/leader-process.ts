// A process that leads `name` on the database `url` for as long as it can. It prints when leading starts and
// stops.
import { leaderLocks } from "../../apps/api/src/db/leader-locks.postgres.ts";

const [url = "", name = "", timing = "{}"] = process.argv.slice(2);
const locks = leaderLocks(url, {
  onFault: () => undefined,
  timing: JSON.parse(timing) as { beatMs: number; leaseMs: number; sessionIdleMs: number },
});
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
while (!stop.signal.aborted) {
  const leadership = await locks.lead(name, stop.signal);
  if (leadership === undefined) break;
  process.stdout.write("leads\n");
  await new Promise<void>((resolve) => {
    AbortSignal.any([leadership.lost, stop.signal]).addEventListener("abort", () => resolve());
  });
  process.stdout.write("stopped\n");
  await leadership.release();
}
await locks.close();
