import {
  attestWithPeers,
  connectPeer,
  messageDigest,
  rawKeySigner,
  recoverSigner,
  signatureToHex,
  type AttestationRoute,
  type Peer,
  type Signer,
} from "@causeway/attest";
import type { Hex32 } from "@causeway/domain";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { keccak256, toHex } from "viem";
import { median } from "../median.ts";

/** The cost of a quorum of peers over loopback, in ms; medians. */
export interface QuorumFigures {
  /** Asking only the peer whose answer completes the quorum. */
  readonly aloneMs: number;
  readonly quorumMs: number;
  /** The difference. */
  readonly addedMs: number;
}

interface Answer {
  readonly id: Hex32;
  readonly signatures: readonly { readonly signer: string; readonly signature: string }[];
}

const route: AttestationRoute<Answer> = {
  path: "/attestation",
  parse: (json) => json as Answer,
  unsigned: ({ id }) => id,
  slots: ({ id, signatures }) => [{ digest: messageDigest(id), domain: "", signatures }],
  withSignatures: (answer, [signatures = []]) => ({ ...answer, signatures }),
};

const ID = keccak256(toHex("a message"));
/**
 * The answer time of each peer. With three of four signers required, the second answer completes the
 * quorum.
 */
const DELAYS_MS = [5, 10, 100] as const;

/**
 * Alternates between asking the slowest required peer alone and all peers. Peers run in this process, so
 * their cost is part of both.
 */
export async function measureQuorum(turns: number): Promise<QuorumFigures> {
  const local = rawKeySigner(`0x${"11".repeat(32)}`);
  const own = await answerBy(local);
  const running = await Promise.all(DELAYS_MS.map(startPeer));
  const policy = {
    signers: new Set([local.address, ...running.map(({ address }) => address)]),
    threshold: 3,
    localSigner: local.address,
  };
  const common = { incomingKey: undefined, timeoutMs: 5_000, signal: new AbortController().signal };
  const askAll = async (): Promise<void> => {
    const { quorum } = await attestWithPeers({
      ...common,
      route,
      local: async () => await Promise.resolve(own),
      peers: running.map(({ peer }) => peer),
      body: { requestPeerSignatures: true },
      policy,
      recover: recoverSigner,
      onWarning: () => undefined,
    });
    if (quorum?.signers !== 3) throw new Error("quorum was not reached");
  };
  const askOne = async (): Promise<void> => void (await running[1]?.peer.query(route.path, "{}", common));
  try {
    const [alone, all]: [number[], number[]] = [[], []];
    for (let turn = 0; turn < turns + 5; turn++) {
      const [one, quorum] = [await timed(askOne), await timed(askAll)];
      // The first ones open the connections.
      if (turn < 5) continue;
      alone.push(one);
      all.push(quorum);
    }
    const [aloneMs, quorumMs] = [median(alone), median(all)];
    return { aloneMs, quorumMs, addedMs: quorumMs - aloneMs };
  } finally {
    await Promise.all(running.map(async ({ stop }) => await stop()));
  }
}

async function timed(act: () => Promise<void>): Promise<number> {
  const startedAtMs = performance.now();
  await act();
  return performance.now() - startedAtMs;
}

async function answerBy(signer: Signer): Promise<Answer> {
  const signature = signatureToHex(await signer.signDigest(messageDigest(ID)));
  return { id: ID, signatures: [{ signer: signer.address, signature }] };
}

interface RunningPeer {
  readonly address: Signer["address"];
  readonly peer: Peer;
  stop(): Promise<void>;
}

async function startPeer(delayMs: number, index: number): Promise<RunningPeer> {
  const signer = rawKeySigner(`0x${`a${index}`.repeat(32)}`);
  const text = JSON.stringify(await answerBy(signer));
  const server = createServer((request, response) => {
    request.resume().once("end", () => setTimeout(() => response.end(text), delayMs));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const peer = connectPeer({ baseUrl: `http://127.0.0.1:${port}`, credential: "key" });
  return {
    address: signer.address,
    peer,
    async stop() {
      await peer.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
