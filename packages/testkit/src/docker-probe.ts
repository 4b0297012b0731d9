import { get, type RequestOptions } from "node:http";

/**
 * Whether a Docker engine responds. An installed `docker` command proves nothing: it is often there without
 * an engine.
 *
 * @param dockerHost value of DOCKER_HOST, if set
 */
export async function isDockerAvailable(dockerHost: string | undefined, timeoutMs = 800): Promise<boolean> {
  return await new Promise((resolve) => {
    const request = get({ ...engineAddress(dockerHost), path: "/_ping", timeout: timeoutMs }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once("error", () => resolve(false));
    request.once("timeout", () => {
      request.destroy();
      resolve(false);
    });
  });
}

function engineAddress(dockerHost: string | undefined): RequestOptions {
  if (dockerHost?.startsWith("tcp://") === true) {
    const { hostname, port } = new URL(dockerHost);
    return { host: hostname, port: port === "" ? 2375 : Number(port) };
  }
  return { socketPath: (dockerHost ?? "unix:///var/run/docker.sock").replace("unix://", "") };
}
