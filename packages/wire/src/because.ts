/**
 * Words for a value of the wrong type: `is required` when it is absent, otherwise `reason`. The error map puts the field's name in front,
 * so a reason reads on from it: `amount` + `must be a string`.
 */
export function because(reason: string): { error: (issue: { readonly input?: unknown }) => string } {
  return { error: (issue) => (issue.input === undefined ? "is required" : reason) };
}
