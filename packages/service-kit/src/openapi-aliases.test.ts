import { expect, test } from "vitest";
import { withAliases } from "./openapi-aliases.ts";

const chainId = { type: "integer", description: "Chain to pay on." };
const document = {
  components: {
    schemas: {
      Quote: {
        type: "object",
        required: ["amount", "originChainId"],
        properties: { amount: { type: "string" }, originChainId: chainId },
      },
    },
  },
};

test("a required field with an alias may use either name, and one of the two is required", () => {
  const { components } = withAliases(document, { Quote: { originChainId: "fromChainId" } });
  expect(components.schemas.Quote).toEqual({
    type: "object",
    required: ["amount"],
    properties: { amount: { type: "string" } },
    allOf: [
      {
        anyOf: [
          { type: "object", required: ["originChainId"], properties: { originChainId: chainId } },
          {
            type: "object",
            required: ["fromChainId"],
            properties: {
              fromChainId: { type: "integer", description: "Alias of `originChainId`." },
            },
          },
        ],
      },
    ],
  });
  expect(withAliases(document)).toEqual(document);
});

test("refuses an alias of a field that is missing or not required", () => {
  expect(() => withAliases(document, { Quote: { chain: "x" } })).toThrow(
    "invariant violated: chain is not a required field",
  );
  expect(() => withAliases(document, { Price: {} })).toThrow("no component Price");
});
