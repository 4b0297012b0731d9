/** The maximum of each figure. */
export type Ceilings = Readonly<Record<string, number>>;

/**
 * A feature may add lines: its commit then raises this ceiling by hand, where a reviewer sees it. All other
 * ceilings may only fall.
 */
const RAISED_BY_HAND: ReadonlySet<string> = new Set(["sourceLines"]);

/** The problem of a figure, or undefined. */
export function problemWith(
  name: string,
  figure: number,
  ceiling: number | undefined,
): "no ceiling" | "above its ceiling" | "ceiling not lowered" | undefined {
  if (ceiling === undefined) return "no ceiling";
  if (figure > ceiling) return "above its ceiling";
  return figure < ceiling && !RAISED_BY_HAND.has(name) ? "ceiling not lowered" : undefined;
}

/**
 * Ceilings that a later version raised, even if versions in between lack them.
 * @param versions oldest first
 */
export function raisedCeilings(versions: readonly Ceilings[]): readonly string[] {
  const latest = new Map<string, number>();
  return versions.flatMap((version) =>
    Object.entries(version).flatMap(([name, ceiling]) => {
      const before = latest.get(name) ?? ceiling;
      latest.set(name, ceiling);
      return ceiling > before && !RAISED_BY_HAND.has(name) ? [`${name}: ${before} → ${ceiling}`] : [];
    }),
  );
}
