import { expect, test } from "vitest";
import { kindOf } from "../../test/e2e/feature-rows.ts";
import { cellName, reasonAgainst, tableCells } from "../../test/support/route-features.ts";
import { canRun, planFeatures } from "./feature-plan.ts";

const chains = ["local-a", "local-b", "local-solana", "local-bitcoin", "exchange"];
const planned = planFeatures(chains, 200, 7);
const route = ({ from, to }: { from: string; to: string }) => ({ from: kindOf(from), to: kindOf(to) });

test("two hundred requests use every feature that a route of the table has", () => {
  const used = new Set(
    planned.flatMap((request) =>
      request.features.map((feature) => cellName({ feature, route: route(request) })),
    ),
  );
  const yes = tableCells().filter((cell) => cell.reason === undefined && canRun(cell.feature, cell.route));
  expect(yes.map(cellName).filter((name) => !used.has(name))).toEqual([]);
});

test("requests one trade type, and no feature that its route lacks", () => {
  for (const request of planned) {
    expect(
      request.features.filter((feature) => reasonAgainst(feature, route(request)) !== undefined),
    ).toEqual([]);
    expect(request.features.filter((feature) => /exact|expected/i.test(feature))).toHaveLength(1);
    expect(request.from).not.toBe(request.to);
  }
});

test("the same seed plans the same requests", () => {
  expect(planFeatures(chains, 200, 7)).toEqual(planned);
  expect(planFeatures(chains, 200, 8)).not.toEqual(planned);
});
