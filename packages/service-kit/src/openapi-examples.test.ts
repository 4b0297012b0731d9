import { expect, test } from "vitest";
import { withExamples } from "./openapi-examples.ts";

const document = {
  paths: {
    "/a": {
      get: {
        parameters: [
          { name: "chainId", required: true, schema: { type: "integer" } },
          { name: "user", schema: { type: "string" } },
          { name: "other", required: true, schema: { type: "string" } },
        ],
      },
    },
  },
  components: { schemas: { Body: { type: "object" } } },
};

test("adds examples to schemas and required parameters, but not to optional ones, which would be sent unintentionally", () => {
  const { paths, components } = withExamples(document, {
    schemas: { Body: { amount: "1" } },
    parameters: { chainId: 7, user: "somebody" },
  });
  expect(components.schemas.Body).toEqual({ type: "object", example: { amount: "1" } });
  expect(paths["/a"].get.parameters.map((parameter) => ({ ...parameter, schema: undefined }))).toEqual([
    { name: "chainId", required: true, example: 7 },
    { name: "user" },
    { name: "other", required: true },
  ]);
});

test("leaves out the example of a schema that the document does not have", () => {
  const { components } = withExamples(document, { schemas: { Webhook: {} }, parameters: {} });
  expect(Object.keys(components.schemas)).toEqual(["Body"]);
});
