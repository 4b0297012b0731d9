import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { keySlot, keysOf, SLOTS } from "./key-slot.ts";
import { requestReader, writeRequest, type Arguments } from "./requests.ts";

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Nodes of a cluster. */
export interface RunningCluster {
  readonly nodes: readonly Address[];
  /** Index of the node that stores a key. */
  ownerOf(key: string): number;
  /** Number of commands refused because their keys are in different slots. */
  refused(): number;
  /** Ends a node. The next one takes over its slots and, as a replica would, its data. */
  fail(node: number): Promise<void>;
  stop(): Promise<void>;
}

interface Node {
  readonly server: Server;
  readonly sockets: Set<Socket>;
  readonly port: number;
}

/**
 * Redis Cluster in front of one server, over its protocol: each node has a part of the slots, redirects
 * commands for others (`MOVED`) and refuses keys of different slots (`CROSSSLOT`). Replies come from the
 * server itself: a command that a node answers on its own is replaced by a script with that answer, which
 * keeps the order of replies.
 */
export async function startRedisCluster(
  upstream: Address,
  { nodes: count = 3 }: { readonly nodes?: number } = {},
): Promise<RunningCluster> {
  const nodes: Node[] = [];
  const owners = Array.from({ length: SLOTS }, (_, slot) => Math.floor((slot * count) / SLOTS));
  let refused = 0;

  const portOf = (node: number): number => nodes[node]?.port ?? 0;
  const rewriteCommand = (args: Arguments, nodeIndex: number): readonly (Buffer | string)[] => {
    const [name = "", sub = ""] = args.map((arg) => String(arg).toLowerCase());
    if (name === "info") return script(INFO, args.slice(1));
    if (name === "cluster") {
      if (sub === "slots") return script("return cjson.decode(ARGV[1])", [JSON.stringify(ranges())]);
      if (sub === "info") return script("return ARGV[1]", [`cluster_state:ok\r\n`]);
      if (sub === "keyslot") return script("return tonumber(ARGV[1])", [String(keySlot(args[2] ?? ""))]);
      return args;
    }
    const slots = [...new Set(keysOf(args).map(keySlot))];
    const [slot] = slots;
    if (slots.length > 1) {
      refused += 1;
      return script(REFUSE, ["CROSSSLOT Keys in request don't hash to the same slot"]);
    }
    const owner = slot === undefined ? nodeIndex : (owners[slot] ?? 0);
    return owner === nodeIndex ? args : script(REFUSE, [`MOVED ${slot} 127.0.0.1:${portOf(owner)}`]);
  };
  /** In the format of `CLUSTER SLOTS`: first and last slot, then their node. */
  const ranges = (): unknown[] =>
    owners.flatMap((owner, slot) => {
      if (slot > 0 && owners[slot - 1] === owner) return [];
      const next = owners.findIndex((slotOwner, nodeIndex) => nodeIndex > slot && slotOwner !== owner);
      return [[slot, (next < 0 ? SLOTS : next) - 1, ["127.0.0.1", portOf(owner), `node-${owner}`]]];
    });

  for (let nodeIndex = 0; nodeIndex < count; nodeIndex++)
    nodes.push(await startNode(upstream, (args) => rewriteCommand(args, nodeIndex)));
  return {
    nodes: nodes.map(({ port }) => ({ host: "127.0.0.1", port })),
    ownerOf: (key) => owners[keySlot(key)] ?? 0,
    refused: () => refused,
    async fail(node) {
      const successor = (node + 1) % count;
      for (const [slot, owner] of owners.entries()) if (owner === node) owners[slot] = successor;
      const failed = nodes[node];
      if (failed !== undefined) await stopNode(failed);
    },
    stop: async () => void (await Promise.all(nodes.map(stopNode))),
  };
}

/** Answers like a node in cluster mode. */
const INFO = `return (string.gsub(redis.call('info', unpack(ARGV)), 'cluster_enabled:0', 'cluster_enabled:1'))`;
const REFUSE = "return redis.error_reply(ARGV[1])";

function script(text: string, args: readonly (Buffer | string)[]): readonly (Buffer | string)[] {
  return ["EVAL", text, "0", ...args];
}

async function startNode(
  upstream: Address,
  rewriteCommand: (args: Arguments) => readonly (Buffer | string)[],
): Promise<Node> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(upstream);
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on(
      "data",
      requestReader((args) => target.write(writeRequest(rewriteCommand(args)))),
    );
    target.on("data", (bytes) => client.write(bytes));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return { server, sockets, port: (server.address() as AddressInfo).port };
}

async function stopNode({ server, sockets }: Node): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of sockets) socket.destroy();
  await closed;
}
