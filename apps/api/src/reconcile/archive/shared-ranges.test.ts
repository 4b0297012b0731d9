import { expect, test } from "vitest";
import { shareOut } from "./shared-ranges.ts";

test.each([
  { through: 0, connections: 2, parts: [] },
  { through: 1, connections: 2, parts: [1] },
  { through: 5, connections: 2, parts: [3, 5] },
  { through: 25, connections: 2, parts: [10, 20, 25] },
  { through: 25, connections: 1, parts: [10, 20, 25] },
])(
  "$connections connections share $through positions, at most 10 at once",
  ({ through, connections, parts }) => {
    const ranges = shareOut({ after: 0, through }, 10, connections);
    expect(ranges.count).toBe(parts.length);
    expect([...ranges.takeParts()].map((range) => range.through)).toEqual(parts);
  },
);
