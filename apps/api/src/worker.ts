import { readWorkerConfig } from "./config/config.ts";
import { buildHealthServer } from "./http/health-server.ts";
import { metricsAccess } from "./http/metrics-access.ts";
import { runProcess } from "./process/run-process.ts";
import { startWorker } from "./process/worker.ts";
import { readinessCheck } from "./reconcile/readiness.ts";

await runProcess(process.env, {
  name: "causeway-worker",
  answersClients: false,
  read: readWorkerConfig,
  serve: async (context, config, services) => {
    const { access, requiredChains } = config;
    const work = await startWorker(context, config);
    return buildHealthServer(
      {
        ...services,
        readiness: readinessCheck(context, {
          otherServers: { redis: work.ping },
          leaders: work.leaders,
          requiredChains,
        }),
      },
      { metrics: metricsAccess(access.metricsToken, "open") },
    );
  },
  port: ({ healthPort }) => ({ port: healthPort, portName: "HEALTH_PORT" }),
});
