import { buildHealthServer } from "./health-server.ts";
import { runProcess } from "./run-process.ts";
import { readiness } from "./usecases/readiness.ts";

await runProcess(process.env, {
  name: "causeway-worker",
  serve: async (container, _config, services) => {
    await container.work();
    return buildHealthServer({ ...services, readiness: () => readiness(container.services) });
  },
  port: ({ healthPort }) => healthPort,
});
