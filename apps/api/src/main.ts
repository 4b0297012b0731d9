import { runProcess } from "./run-process.ts";
import { buildServer } from "./server.ts";

await runProcess(process.env, {
  name: "causeway-api",
  serve: async (container, { http }, services) =>
    buildServer(
      { ...services, ...(await container.routes()) },
      {
        trustProxy: typeof http.trustProxy === "boolean" ? http.trustProxy : [...http.trustProxy],
        bodyLimitBytes: http.bodyLimitBytes,
        checkResponses: http.responseCheck,
      },
    ),
  port: ({ http }) => http.port,
});
