import type { VmType } from "@causeway/domain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createMappingBook, startFamilyOracles, type FamilyOracles } from "../support/family-oracles.ts";
import { depositRows } from "./family-deposit-rows.ts";
import { createJudge, type Judge } from "./family-judge.ts";
import { nodeRows } from "./family-node-rows.ts";
import { orderRows } from "./family-order-rows.ts";
import type { Row } from "./family-row.ts";
import { withdrawalRows } from "./family-withdrawal-rows.ts";
import {
  isNotApplicable,
  familyCases,
  type FamilyWorld,
  type MappingBook,
  type NotApplicable,
} from "./family-world.ts";

// The same behaviors and hostile cases for every chain family, each tested over the HTTP interface of a real
// oracle.

export type StartFamily = (mappings: MappingBook) => Promise<FamilyWorld>;

/** The row of each case that only one family has. For all other families the case does not apply. */
const familyCaseRows: readonly Row[] = Object.entries(familyCases).flatMap(([family, cases]) =>
  cases.map((name): Row => ({
    name,
    run: async (judge) => {
      if (judge.world.family !== family) return { notApplicable: `a case of ${family}` };
      const scene = judge.world.familyCases[name];
      if (scene === undefined) throw new Error(`${family} has no scene for the case: ${name}`);
      if (isNotApplicable(scene)) return scene;
      await scene(judge.caseTools);
      return undefined;
    },
  })),
);

export const familyRows: readonly Row[] = [
  ...depositRows,
  ...nodeRows,
  ...orderRows,
  ...withdrawalRows,
  ...familyCaseRows,
];

type Cell = { readonly passed: true } | NotApplicable | { readonly failed: true };

/** Runs all cases for every family, prints the table, and fails if a cell is empty without a reason. */
export function describeFamilies(
  families: Readonly<Partial<Record<VmType, StartFamily>>>,
  all: readonly VmType[],
): void {
  const cells = new Map<string, Cell>();
  const keyOf = (family: string, { name }: Row): string => `${family}\n${name}`;

  for (const family of all) {
    const start = families[family];
    if (start === undefined) continue;
    // Families run concurrently, because each waits only for its own nodes. The cases of a family run in
    // sequence on one chain.
    describe.concurrent(family, () => {
      let oracles: FamilyOracles | undefined;
      let judge: Judge | undefined;
      beforeAll(async () => {
        const mappings = createMappingBook();
        oracles = await startFamilyOracles(await start(mappings), mappings);
        judge = createJudge(oracles);
      });
      afterAll(async () => {
        await oracles?.close();
        await oracles?.world.close();
      });
      for (const familyRow of familyRows)
        test(familyRow.name, { concurrent: false }, async ({ annotate }) => {
          if (judge === undefined) throw new Error(`${family} did not start`);
          cells.set(keyOf(family, familyRow), { failed: true });
          const outcome = await familyRow.run(judge);
          if (outcome !== undefined && outcome.notApplicable.trim() === "")
            throw new Error("a case that does not apply must give a reason");
          cells.set(keyOf(family, familyRow), outcome ?? { passed: true });
          if (outcome !== undefined) await annotate(outcome.notApplicable);
        });
    });
  }

  // If only some families run, the table shows only those.
  afterAll(() => {
    const shown = all.filter((family) => familyRows.some((familyRow) => cells.has(keyOf(family, familyRow))));
    process.stdout.write(`${tableOf(shown, (family, familyRow) => cells.get(keyOf(family, familyRow)))}\n`);
  });

  test("every family passes every case, or gives the reason why it does not apply", () => {
    const empty = all.flatMap((family) =>
      familyRows
        .filter((familyRow) => !cells.has(keyOf(family, familyRow)))
        .map(({ name }) => `${family}: ${name}`),
    );
    expect(empty).toEqual([]);
  });
}

function tableOf(
  families: readonly VmType[],
  cellOf: (family: VmType, familyRow: Row) => Cell | undefined,
): string {
  const reasons: string[] = [];
  const texts = familyRows.map((familyRow) => [
    familyRow.name,
    ...families.map((family) => {
      const cell = cellOf(family, familyRow);
      if (cell === undefined) return "EMPTY";
      if ("passed" in cell) return "ok";
      if ("failed" in cell) return "FAILED";
      if (cell.notApplicable.startsWith("a case of ")) return "-";
      if (!reasons.includes(cell.notApplicable)) reasons.push(cell.notApplicable);
      return `- ${reasons.indexOf(cell.notApplicable) + 1}`;
    }),
  ]);
  const lines = [["case", ...families], ...texts];
  const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0))) ?? [];
  const printed = lines.map((line) =>
    line
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return ["", ...printed, "", ...reasons.map((reason, at) => `- ${at + 1}: ${reason}`)].join("\n");
}
