import { expect, test } from "vitest";
import { tidyComponents } from "./openapi-components.ts";

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const holding = (inner: object, extra: object = {}) => ({ type: "object", properties: { inner }, ...extra });

test("merges equal input and output schemas, gives an input without an output the plain name, and drops unused schemas", () => {
  const tidy = tidyComponents({
    paths: {
      "/a": {
        post: { body: ref("OnlyAskedInput"), responses: { 200: { schema: ref("Both") } } },
        get: { body: ref("BothInput") },
      },
      "/b": {
        post: {
          body: ref("DiffersInput"),
          responses: { 200: { schema: ref("Differs"), description: "Default Response" } },
        },
      },
    },
    components: {
      schemas: {
        Leaf: { type: "string" },
        LeafInput: { type: "string" },
        Both: holding(ref("Leaf"), { additionalProperties: false }),
        BothInput: holding(ref("LeafInput")),
        OnlyAsked: holding(ref("Both"), { required: ["inner"] }),
        OnlyAskedInput: holding(ref("BothInput")),
        Differs: holding(ref("Leaf"), { required: ["inner"] }),
        DiffersInput: holding(ref("LeafInput")),
        Unused: {},
        UnusedInput: {},
      },
    },
  });
  expect(Object.keys(tidy.components.schemas)).toEqual([
    "Both",
    "Differs",
    "DiffersInput",
    "Leaf",
    "OnlyAsked",
  ]);
  expect(tidy.components.schemas.Both, "further fields are accepted").toEqual(holding(ref("Leaf")));
  expect(tidy.components.schemas.OnlyAsked).toEqual(holding(ref("Both")));
  expect(tidy.paths["/a"]).toMatchObject({ post: { body: ref("OnlyAsked") }, get: { body: ref("Both") } });
  expect(tidy.paths["/b"].post).toMatchObject({
    body: ref("DiffersInput"),
    responses: { 200: { description: "OK" } },
  });
});
