import { buildHealthServer } from "./health-server.ts";
import { runProcess } from "./run-process.ts";
import { readiness } from "./usecases/readiness.ts";

await runProcess(process.env, {
  name: "causeway-worker",
  serve: async (container, _config, services) => {
    const queue = await container.work();
    return buildHealthServer({
      ...services,
      readiness: () => readiness(container.services, { redis: () => queue.ping() }),
    });
  },
  port: ({ healthPort }) => healthPort,
});
