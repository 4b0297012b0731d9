import { type ErrorCode, ServiceError } from "@causeway/domain";

/** The part of a validation failure that this file reads; zod's validator of the type provider fills it. */
interface Problem {
  readonly instancePath: string;
  readonly message?: string | undefined;
}

/** Set on a route (`config`) to give bad values of some fields a code of their own. */
export interface FieldErrorCodes {
  readonly [field: string]: ErrorCode;
}

/**
 * Turns a failed schema into one error for the caller: `amount must be a string of decimal digits`. The first
 * problem is the message, all of them are in `errorData`. A field that is merely absent is always
 * `INVALID_REQUEST`.
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
