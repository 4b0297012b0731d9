import { expect, test } from "vitest";
import { filesPerEndpoint, listsOfEndpoints } from "./endpoint-files.ts";

const names = {
  paths: ["/chains", "/requests/{id}/trace"],
  routes: ["chainsRoute", "traceRoute"],
  schemas: ["./api/chains.ts", "./api/trace.ts"],
};
const lists = (...texts: readonly string[]): readonly string[] =>
  listsOfEndpoints(
    texts.map((text, index) => ({ path: String(index), text })),
    names,
  );

test("a file that names all paths, all routes or all schemas is a list", () => {
  expect(
    lists(
      "GET /chains\nGET /requests/:id/trace",
      'get("/chains"); get(`/requests/${id}/trace`);',
      "[chainsRoute, traceRoute]",
      'export * from "./api/chains.ts";\nexport * from "./api/trace.ts";',
    ),
  ).toEqual(["0", "1", "2", "3"]);
});

test("a file that names only some is not a list", () => {
  expect(
    lists(
      "GET /chains/health\nGET /requests/:id/trace",
      "[chainsRoutes, traceRoute]",
      "[chainsRoute, /chains]",
    ),
  ).toEqual([]);
});

test("an endpoint has four files of its own", () => {
  expect(filesPerEndpoint(["docs/ACCESS.md"])).toBe(5);
});
