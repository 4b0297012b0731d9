import { type ErrorCode, ServiceError } from "@causeway/domain";

/** The part of a validation failure that this file reads; the type provider's zod validator creates it. */
interface Problem {
  readonly instancePath: string;
  readonly message?: string | undefined;
}

/** Set in a route's `config` to give invalid values of some fields their own error code. */
export interface FieldErrorCodes {
  readonly [field: string]: ErrorCode;
}

/**
 * Turns a validation failure into one error for the caller: `amount must be a string of decimal digits`. The
 * message is the first problem, `errorData` has all of them. A missing field is always `INVALID_REQUEST`.
 */
export function schemaProblem(
  problems: readonly Problem[],
  part: string,
  codes: FieldErrorCodes = {},
): ServiceError {
  const named = problems.map(({ instancePath, message = "is not valid" }) => ({
    field: fieldName(instancePath) ?? part,
    reason: message,
  }));
  const first = named[0] ?? { field: part, reason: "is not valid" };
  const [topField = ""] = first.field.split(/[.[]/, 1);
  const code = first.reason === "is required" ? undefined : codes[topField];
  return new ServiceError(code ?? "INVALID_REQUEST", `${first.field} ${first.reason}`, {
    field: first.field,
    data: { problems: named },
  });
}

/** `/txs/0/to` → `txs[0].to`; undefined for the value itself. */
function fieldName(instancePath: string): string | undefined {
  const parts = instancePath.split("/").filter((part) => part !== "");
  if (parts.length === 0) return undefined;
  return parts.reduce(
    (path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === "" ? part : `${path}.${part}`),
    "",
  );
}
