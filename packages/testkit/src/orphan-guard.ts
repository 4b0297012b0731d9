import { spawn } from "node:child_process";

/**
 * Reads one line from its parent. The line "gone" means that the guarded process has exited by itself; end of
 * input means that the parent died (even by SIGKILL), so the guarded process gets SIGINT and, two seconds
 * later, SIGKILL. Then the folder is removed, if there is one.
 */
const guardScript = `
trap '' INT TERM HUP
read -r word && exit 0
kill -INT "$1" 2>/dev/null
n=0
while [ $n -lt 20 ] && kill -0 "$1" 2>/dev/null; do sleep 0.1; n=$((n+1)); done
kill -KILL "$1" 2>/dev/null
[ -z "$2" ] || rm -rf "$2"
exit 0
`;

/**
 * Makes a child process exit with this one. Node.js has no parent-death signal, so a tiny shell holds the
 * other end of a pipe, which closes no matter how this process ends.
 *
 * @param folder removed if this process ends before the child
 */
export function guardAgainstOrphan(pid: number, exited: Promise<unknown>, folder = ""): void {
  const guard = spawn("/bin/sh", ["-c", guardScript, "causeway-guard", String(pid), folder], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
  });
  guard.unref();
  // The guard may have been killed manually; a broken pipe to it must not end this process.
  guard.stdin.on("error", () => undefined);
  guard.on("error", () => undefined);
  const pipe: unknown = guard.stdin;
  if (isUnrefable(pipe)) pipe.unref();
  void exited.then(() => guard.stdin.end("gone\n"));
}

/** Child pipes are sockets, which the stream type does not show. */
function isUnrefable(value: unknown): value is { unref(): void } {
  return typeof value === "object" && value !== null && "unref" in value;
}
