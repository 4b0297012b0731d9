import { buildHealthServer } from "./health-server.ts";
import { metricsAccess } from "./metrics-access.ts";
import { runProcess } from "./run-process.ts";
import { readinessCheck } from "./usecases/readiness.ts";

await runProcess(process.env, {
  name: "causeway-worker",
  answersClients: false,
  serve: async (container, { access }, services) => {
    const work = await container.work();
    return buildHealthServer(
      { ...services, readiness: readinessCheck(container.services, { redis: work.ping }, work.leaders) },
      { metrics: metricsAccess(access.metricsToken, "open") },
    );
  },
  port: ({ healthPort }) => healthPort,
});
