/**
 * The reason for a value of the wrong type: `is required` if it is absent, otherwise `reason`. The error map
 * puts the field's name in front: `amount` + `must be a string`.
 */
export function because(reason: string): { error: (issue: { readonly input?: unknown }) => string } {
  return { error: (issue) => (issue.input === undefined ? "is required" : reason) };
}

/** The same for an object without other fields: names the unknown ones. */
export function becauseStrict(reason: string): {
  error: (issue: {
    readonly code?: string;
    readonly input: unknown;
    readonly keys?: readonly string[];
  }) => string;
} {
  return {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `has unknown fields: ${(issue.keys ?? []).join(", ")}`
        : because(reason).error(issue),
  };
}
