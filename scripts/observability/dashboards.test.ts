import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { dashboards } from "./dashboards.ts";
import { generatedFiles } from "./files.ts";

interface Board {
  readonly uid: string;
  readonly panels: readonly {
    readonly id: number;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets: readonly { readonly refId: string }[];
  }[];
}

const closed = (properties: object, optional: readonly string[] = []) => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});
const text = { type: "string", minLength: 1 };
const natural = { type: "integer", minimum: 0 };
const datasource = closed({ type: { const: "prometheus" }, uid: { const: "${source}" } });

/** The fields of Grafana's dashboard kind (kinds/dashboard/dashboard_kind.cue) that the generator uses. */
const boardSchema = closed({
  uid: { type: "string", pattern: "^[A-Za-z0-9_-]{1,40}$" },
  title: text,
  tags: { type: "array", items: text },
  editable: { type: "boolean" },
  graphTooltip: { enum: [0, 1, 2] },
  refresh: { type: "string", pattern: "^\\d+[smhd]$" },
  schemaVersion: { type: "integer", minimum: 36, maximum: 65_535 },
  time: closed({ from: text, to: text }),
  templating: closed({
    list: {
      type: "array",
      items: closed({ name: { const: "source" }, label: text, type: { const: "datasource" }, query: text }),
      minItems: 1,
    },
  }),
  panels: {
    type: "array",
    minItems: 1,
    items: closed({
      id: { type: "integer", minimum: 1 },
      type: { const: "timeseries" },
      title: text,
      datasource,
      gridPos: closed({
        x: { type: "integer", minimum: 0, maximum: 23 },
        y: natural,
        w: { type: "integer", minimum: 1, maximum: 24 },
        h: { type: "integer", minimum: 1 },
      }),
      fieldConfig: closed({
        defaults: closed({
          unit: { enum: ["s", "bytes", "short", "percentunit", "reqps"] },
          min: { type: "number" },
        }),
        overrides: { type: "array" },
      }),
      targets: {
        type: "array",
        minItems: 1,
        items: closed({
          refId: { type: "string", pattern: "^[A-Z]$" },
          datasource,
          expr: text,
          legendFormat: text,
        }),
      },
    }),
  },
});

test("every dashboard has the format that Grafana imports", async () => {
  const isBoard = new Ajv({ allErrors: true }).compile<Board>(boardSchema);
  const boards = [...(await generatedFiles())].flatMap(([path, json]) =>
    path.startsWith("deploy/grafana/") ? [[path, JSON.parse(json) as unknown] as const] : [],
  );
  expect(boards).toHaveLength(dashboards.length);
  const uids = new Set<string>();
  for (const [path, board] of boards) {
    if (!isBoard(board)) throw new Error(`${path}: ${JSON.stringify(isBoard.errors)}`);
    uids.add(board.uid);
    expect(new Set(board.panels.map(({ id }) => id)).size, path).toBe(board.panels.length);
    const cells = board.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size, `${path}: panels overlap`).toBe(cells.length);
    for (const { gridPos, targets } of board.panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    }
  }
  expect(uids.size).toBe(boards.length);
});
