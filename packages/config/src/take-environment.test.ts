import { expect, test } from "vitest";
import { takeEnvironment } from "./take-environment.ts";

test("returns everything and leaves only what Node.js, the C library and AWS's client read", () => {
  const kept = {
    PATH: "/bin",
    HOME: "/root",
    TZ: "UTC",
    LC_ALL: "C",
    NODE_OPTIONS: "--no-warnings",
    AWS_WEB_IDENTITY_TOKEN_FILE: "/token",
    AWS_ROLE_ARN: "arn",
  };
  const secrets = {
    SOLVER_PRIVATE_KEY: "s1",
    DATABASE_URL: "postgres://u:s2@h/d",
    BASE_RPC_URL: "https://node/s3",
    AWS_SECRET_ACCESS_KEY: "s4",
    AWS_SESSION_TOKEN: "s5",
    ANY_NAME: "s6",
    HTTP_PROXY: "http://u:s7@proxy",
  };
  const env: NodeJS.ProcessEnv = { ...kept, ...secrets };
  expect(takeEnvironment(env)).toEqual({ ...kept, ...secrets });
  expect(env).toEqual(kept);
});
