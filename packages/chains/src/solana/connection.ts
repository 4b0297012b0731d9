import { createKeyPairFromPrivateKeyBytes, getAddressFromPublicKey } from "@solana/kit";
import { bytesOf } from "@causeway/domain";
import { decodeAddress, nativeCurrency } from "@causeway/families";
import { createRpcTransport } from "../nodes/transport.ts";
import type { NonEvmConnection, OpenConnection } from "../non-evm-connection.ts";
import { observed, type NonEvmOptions } from "../non-evm-options.ts";
import { depositoryAccounts } from "@causeway/families/solana";
import { mintOf } from "./mints.ts";
import { createArrivals } from "./arrivals.ts";
import { clusterTransport } from "./cluster-transport.ts";
import { createPayments } from "./pay.ts";
import { createReads } from "./reads.ts";
import { createSolanaRpc } from "./rpc.ts";

/** Milliseconds between two polls. */
const POLL_INTERVAL_MS = 1_000;

/**
 * Connects the service to a Solana cluster: deposits are read from finalized state and judged like oracles
 * do; payments are the solver's own transfers with the order id in a memo. Connects at the first request.
 * @throws RangeError if the chain is not Solana, or oracles would read another depository
 */
export async function connectSolana(options: NonEvmOptions): Promise<OpenConnection> {
  const { chain, attestation, now, onFault } = options;
  if (chain.family !== "solana-vm" || attestation.vmType !== "solana-vm")
    throw new RangeError(`invariant violated: chain ${chain.name} is not a Solana cluster`);
  const program = decodeAddress("solana-vm", chain.depository);
  if (attestation.depository !== program)
    throw new RangeError(
      `chain ${chain.name}: depository differs from the one in the fields that oracles read`,
    );
  const pdas = await depositoryAccounts(program);
  const solver = decodeAddress("solana-vm", options.solver);
  const node = createRpcTransport({
    url: chain.rpcUrl,
    maxAnswerBytes: 8 * 1024 * 1024,
    ...observed(options, chain.rpcUrl),
  });
  const transport = clusterTransport(node, attestation.solana?.genesisHash);
  const rpc = createSolanaRpc(transport);
  const reads = createReads(transport);

  const native = nativeCurrency("solana-vm");
  const configured = chain.tokens
    .map(({ address: bytes }) => decodeAddress("solana-vm", bytes))
    .filter((mint) => mint !== native);
  const programs = new Map<string, string>();
  /** The token program of a mint never changes. */
  const mints = async (): Promise<readonly { readonly mint: string; readonly tokenProgram: string }[]> => {
    const unread = configured.filter((mint) => !programs.has(mint));
    if (unread.length > 0) {
      const accounts = await reads.accounts(unread, "finalized");
      unread.forEach((mint, index) => {
        const fact = mintOf(accounts[index]);
        if (fact !== undefined) programs.set(mint, fact.tokenProgram);
      });
    }
    return [...programs].map(([mint, tokenProgram]) => ({ mint, tokenProgram }));
  };

  const arrivals = createArrivals({ rpc, reads, pdas, mints, onFault });
  const { depositAddressProgram: addressProgram } = chain;
  const depositAddressProgram = addressProgram && decodeAddress("solana-vm", addressProgram);
  const { prepareWith, isCurrent, depositAddresses, ...payments } = createPayments({
    rpc,
    reads,
    pdas,
    payer: solver,
    now,
    depositAddressProgram,
  });
  const timers = new Set<NodeJS.Timeout>();

  const connection: NonEvmConnection = {
    vm: "solana-vm",
    solver: options.solver,
    // A payment's bytes expire by themselves once their blockhash is too old.
    canReplace: false,
    canCancel: false,
    ...arrivals,
    ...payments,
    ...(depositAddresses !== undefined && { depositAddresses }),
    head: async () => {
      const { slot } = await reads.finalHeight();
      return { position: slot, number: slot };
    },
    onNews: (listener) => {
      const timer = setInterval(listener, POLL_INTERVAL_MS);
      // Polling must not keep the process alive.
      timer.unref();
      timers.add(timer);
      return () => {
        clearInterval(timer);
        timers.delete(timer);
      };
    },
    close: async () => {
      for (const timer of timers) clearInterval(timer);
      await transport.close();
    },
  };
  return {
    ...connection,
    withKey: async (privateKey) => {
      const pair = await createKeyPairFromPrivateKeyBytes(bytesOf(privateKey));
      if ((await getAddressFromPublicKey(pair.publicKey)) !== solver)
        throw new RangeError(`chain ${chain.name}: key does not match the solver address`);
      return { ...connection, prepare: prepareWith(pair), isCurrent };
    },
  };
}
