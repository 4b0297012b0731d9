import type { Env } from "@causeway/config";
import { withVaultSecrets } from "@causeway/config";
import type { Finding } from "../doctor/finding.ts";
import { redactor } from "../doctor/reason.ts";
import { examine } from "../doctor/run-doctor.ts";
import { readSubjects, type CheckedProcess } from "../doctor/subjects.ts";
import { commandLine, DONE, FAILED, runCommand, UsageError } from "./run-command.ts";

export const DOCTOR_USAGE = `  operator doctor [--process api|worker] [--json]
                              checks the configuration, Postgres, Redis, endpoints, contracts, accounts, prices, the hub, oracles,
                              notifications and clocks; prints what is wrong, why it matters and what corrects it. Changes nothing
                              --process: whose environment this is (default: worker)
                              --json: prints all findings, one JSON line each, also those that are ok
                              exit code 0: no problem (warnings allowed); 1: a problem; 2: invalid options
`;

interface DoctorOptions {
  readonly checked: CheckedProcess;
  readonly isJson: boolean;
}

/** `operator doctor`. Never throws: the exit code is the outcome. */
export async function runDoctor(args: readonly string[], env: Env): Promise<number> {
  return await runCommand(DOCTOR_USAGE, async () => {
    const { checked, isJson } = parseOptions(args);
    const redact = redactor(withVaultSecrets(env));
    const findings = (await examine(readSubjects(checked, env))).map((finding) =>
      redactFinding(finding, redact),
    );
    process.stdout.write(isJson ? jsonOf(findings) : tableOf(findings));
    return exitCodeOf(findings);
  });
}

/** 1 if there is a problem; warnings alone give 0. */
export function exitCodeOf(findings: readonly Finding[]): number {
  return findings.some(({ state }) => state === "problem") ? FAILED : DONE;
}

/** @throws UsageError */
function parseOptions(args: readonly string[]): DoctorOptions {
  const { values } = commandLine({
    args: [...args],
    options: {
      process: { type: "string", default: "worker" },
      json: { type: "boolean", default: false },
    },
  });
  const { process: checked, json: isJson } = values;
  if (checked !== "api" && checked !== "worker")
    throw new UsageError(`--process must be api or worker, got ${checked}`);
  return { checked, isJson };
}

function redactFinding(finding: Finding, redact: (text: string) => string): Finding {
  const { subject, found, why, remedy } = finding;
  return {
    ...finding,
    subject: redact(subject),
    found: redact(found),
    ...(why !== undefined && { why }),
    ...(remedy !== undefined && { remedy: redact(remedy) }),
  };
}

function jsonOf(findings: readonly Finding[]): string {
  return findings.map((finding) => `${JSON.stringify(finding)}\n`).join("");
}

/** Problems first; passed checks are only counted. */
function tableOf(findings: readonly Finding[]): string {
  const withState = (state: Finding["state"]): readonly Finding[] =>
    findings.filter((finding) => finding.state === state);
  const shown = [...withState("problem"), ...withState("warning"), ...withState("skipped")];
  const blocks = shown.map(({ state, check, subject, found, why, remedy }) =>
    [
      `${state.toUpperCase().padEnd(8)} ${check}: ${subject}`,
      `  found   ${found}`,
      ...(why === undefined ? [] : [`  why     ${why}`]),
      ...(remedy === undefined ? [] : [`  remedy  ${remedy}`]),
      "",
    ].join("\n"),
  );
  const counts = `${withState("problem").length} problems, ${withState("warning").length} warnings, ${withState("skipped").length} skipped, ${withState("ok").length} ok\n`;
  return [...blocks, counts].join("\n");
}
