import { vi } from "vitest";
import { runDoctor } from "../../apps/api/src/process/commands/doctor-command.ts";
import type { Finding } from "../../apps/api/src/process/doctor/finding.ts";

/** Runs `operator doctor`, and returns its output. */
export async function runDoctorCommand(
  env: Record<string, string>,
  ...args: string[]
): Promise<{ readonly code: number; readonly out: string }> {
  let out = "";
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, "write").mockImplementation((text) => {
      out += String(text);
      return true;
    });
  const code = await runDoctor(args, env);
  vi.restoreAllMocks();
  return { code, out };
}

export async function doctorFindings(env: Record<string, string>): Promise<readonly Finding[]> {
  const { out } = await runDoctorCommand(env, "--json");
  return out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Finding);
}
