import { readApiConfig } from "./config/config.ts";
import { metricsAccess } from "./http/metrics-access.ts";
import { startApi } from "./process/api.ts";
import { runProcess } from "./process/run-process.ts";
import { buildServer } from "./process/server.ts";

await runProcess(process.env, {
  name: "causeway-api",
  answersClients: true,
  read: readApiConfig,
  serve: async (context, { http, access }, services) =>
    buildServer(
      { ...services, ...(await startApi(context)) },
      {
        trustProxy: http.trustProxy,
        metrics: metricsAccess(access.metricsToken, "closed"),
        bodyLimitBytes: http.bodyLimitBytes,
        checkResponses: http.responseCheck,
      },
    ),
  port: ({ http }) => ({ port: http.port, portName: "HTTP_PORT" }),
});
