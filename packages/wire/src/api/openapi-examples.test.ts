import { expect, test } from "vitest";
import { z } from "zod";
import * as wire from "../index.ts";
import { openapiExamples } from "./openapi-examples.ts";

const schemas = new Map(
  Object.values<unknown>(wire)
    .filter((exported) => exported instanceof z.ZodType)
    .map((schema) => [schema.meta()?.id, schema]),
);

test.each(Object.entries(openapiExamples.schemas))(
  "the example of %s has all required fields of its schema, and no others",
  (name, example) => {
    const schema = schemas.get(name);
    if (schema === undefined) throw new Error(`no schema is exported with the id ${name}`);
    expect(schema.parse(example)).toMatchObject(example);
  },
);
