import { databaseUnreachableReason } from "../../db/database-unreachable.ts";

/**
 * What a failed command prints. Errors of ours name no secret; those of the driver may name a host.
 * @param context precedes any other reason than an unreachable database
 */
export function failureText(error: unknown, context = ""): string {
  const away = databaseUnreachableReason(error);
  return away === undefined ? `${context}${messageOf(error)}` : `the database could not be reached: ${away}`;
}

/** An error around several others may have only a code. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message === "" && "code" in error ? String(error.code) : error.message;
}
