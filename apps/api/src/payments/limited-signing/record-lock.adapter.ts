import { stat, unlink } from "node:fs/promises";
import { createConnection, createServer } from "node:net";

/** Reserves a file for one process, which listens on a socket next to the file. Ends with the process. */
export interface FileLock {
  /** False once another process has replaced the socket. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

/** The system cuts off longer paths of sockets. */
const MAX_SOCKET_PATH_BYTES = 103;

/** @throws Error when another process holds the lock, or no socket can be created there */
export async function lockFile(path: string): Promise<FileLock> {
  const socketPath = `${path}.lock`;
  const bytes = Buffer.byteLength(socketPath);
  if (bytes > MAX_SOCKET_PATH_BYTES)
    throw new Error(`${socketPath} must be at most ${MAX_SOCKET_PATH_BYTES} bytes long, got ${bytes}`);
  if (await isServed(socketPath))
    throw new Error(`${path} is used by another process, which listens on ${socketPath}; stop it first`);
  // A process that was killed leaves its socket behind.
  await unlink(socketPath).catch(() => undefined);
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, resolve);
  });
  const { ino } = await stat(socketPath);
  return {
    isHeld: async () => (await stat(socketPath).catch(() => undefined))?.ino === ino,
    release: async () => await new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Whether a process listens on a socket, even if this process may not connect to it. */
export async function isServed(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", ({ code }: NodeJS.ErrnoException) =>
      resolve(code !== "ENOENT" && code !== "ECONNREFUSED"),
    );
  });
}
