import type { FastifyInstance } from "fastify";

/**
 * Why a process cannot start, for a reason outside its code. The message is one sentence for the operator,
 * with the remedy, and quotes no secret.
 */
export class StartProblem extends Error {
  override readonly name: string = "StartProblem";
}

/**
 * Listens on a configured address.
 * @param portName the setting of the port
 * @returns the URL that it listens on
 * @throws StartProblem if the address is in use, not permitted or not of this host
 */
export async function listenOn(
  server: Pick<FastifyInstance, "listen">,
  { host, port, portName }: { readonly host: string; readonly port: number; readonly portName: string },
): Promise<string> {
  try {
    return await server.listen({ host, port });
  } catch (error) {
    const sentence = sentences[(error as NodeJS.ErrnoException).code ?? ""]?.(host, port, portName);
    throw sentence === undefined ? error : new StartProblem(sentence, { cause: error });
  }
}

type Sentence = (host: string, port: number, portName: string) => string;

const sentences: Readonly<Record<string, Sentence | undefined>> = {
  EADDRINUSE: (host, port, portName) =>
    `port ${port} of ${host} is in use by another process; stop that process, or set ${portName} to a free port`,
  EACCES: (host, port, portName) =>
    `port ${port} of ${host} is not permitted for this user; set ${portName} to a port above 1023`,
  EADDRNOTAVAIL: (host) => `HTTP_HOST ${host} is not an address of this host; set it to one, or to 0.0.0.0`,
  ENOTFOUND: (host) => `HTTP_HOST ${host} is not an address of this host; set it to one, or to 0.0.0.0`,
};
