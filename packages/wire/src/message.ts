/**
 * The error message for a value of the wrong type: `is required` if it is absent, otherwise `text`. The error
 * map puts the field's name in front: `amount` + `must be a string`.
 */
export function message(text: string): { error: (issue: { readonly input?: unknown }) => string } {
  return { error: (issue) => (issue.input === undefined ? "is required" : text) };
}

/** Like {@link message}, for an object that allows no other fields: lists the unknown fields. */
export function strictMessage(text: string): {
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
        : message(text).error(issue),
  };
}
