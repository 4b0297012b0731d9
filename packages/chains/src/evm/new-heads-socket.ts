import { WebSocket } from "ws";
import { fieldsOf, quantityOf, readBlock, type BlockRef } from "@causeway/families/evm";
import { garbage, RpcFault } from "@causeway/families";

export interface NewHeadsOptions {
  readonly url: string;
  /** The expected chain id: heads of a node that serves another chain are ignored. */
  readonly chainId: number;
  readonly onHeader: (block: BlockRef) => void;
  readonly onFault: (fault: unknown) => void;
  /** First and maximum delay before reconnecting, ms; each failure doubles it. Defaults: 250 and 10,000. */
  readonly backoffMs?: { readonly first: number; readonly max: number };
}

export interface NewHeadsSocket {
  /** Call this if the chain advances but the socket is silent; it reconnects. */
  reconnect(): void;
  close(): Promise<void>;
}

const CHAIN_ID_CALL = 1;
const SUBSCRIBE_CALL = 2;
const MAX_MESSAGE_BYTES = 1024 * 1024;

/**
 * Keeps one subscription to `newHeads` alive: connects, subscribes, and repeats both whenever the connection
 * is lost.
 */
export function subscribeNewHeads(options: NewHeadsOptions): NewHeadsSocket {
  const { first, max } = options.backoffMs ?? { first: 250, max: 10_000 };
  // The socket's own error would quote the URL, including credentials.
  if (!URL.canParse(options.url)) throw new TypeError("wsRpcUrl is not a valid URL");
  let isClosed = false;
  let pauseMs = first;
  let socket: WebSocket | undefined;
  let reconnectTimer: NodeJS.Timeout | undefined;

  const connect = (): void => {
    if (isClosed) return;
    const current = new WebSocket(options.url, { handshakeTimeout: 5_000, maxPayload: MAX_MESSAGE_BYTES });
    socket = current;
    let isChainVerified = false;
    let subscription: unknown;
    current.on("open", () => {
      current.send(`{"jsonrpc":"2.0","id":${CHAIN_ID_CALL},"method":"eth_chainId","params":[]}`);
      current.send(`{"jsonrpc":"2.0","id":${SUBSCRIBE_CALL},"method":"eth_subscribe","params":["newHeads"]}`);
    });
    current.on("message", (data: Buffer) => {
      try {
        const message = fieldsOf(JSON.parse(data.toString("utf8")) as unknown, "eth_subscribe");
        if (message["error"] !== undefined)
          throw garbage("eth_subscribe", "the node refused the subscription");
        if (message["id"] === CHAIN_ID_CALL) {
          const servedId = quantityOf(message["result"], "eth_chainId");
          if (servedId !== BigInt(options.chainId)) {
            const reason = `the WebSocket node serves chain ${servedId}, expected ${options.chainId}`;
            throw new RpcFault({ kind: "wrongChain", method: "eth_chainId", reason });
          }
          isChainVerified = true;
        } else if (message["id"] === SUBSCRIBE_CALL) {
          subscription = message["result"];
        } else if (message["method"] === "eth_subscription" && isChainVerified) {
          const params = fieldsOf(message["params"], "eth_subscription");
          if (params["subscription"] !== subscription) return;
          const block = readBlock(params["result"], "eth_subscription");
          if (block === undefined) throw garbage("eth_subscription", "header is null");
          pauseMs = first;
          options.onHeader(block);
        }
      } catch (error) {
        // A syntax error quotes the node's message, which contains nothing secret.
        options.onFault(error);
        current.terminate();
      }
    });
    // `error` is always followed by `close`; its message may name the host.
    current.on("error", () => undefined);
    current.on("close", (code) => {
      if (isClosed) return;
      options.onFault(
        new RpcFault({ kind: "network", method: "eth_subscribe", reason: `WebSocket closed (${code})` }),
      );
      reconnectTimer = setTimeout(connect, pauseMs);
      pauseMs = Math.min(max, pauseMs * 2);
    });
  };
  connect();

  return {
    reconnect: () => socket?.terminate(),
    close: async () => {
      isClosed = true;
      clearTimeout(reconnectTimer);
      const current = socket;
      if (current === undefined || current.readyState === WebSocket.CLOSED) return;
      await new Promise<void>((resolve) => {
        current.once("close", () => resolve());
        current.terminate();
      });
    },
  };
}
