import { startAnvil } from "@causeway/testkit";
import type { Address, Hex } from "@causeway/domain";
import { rpcAt, withContracts, type Machine, type MachineBase } from "./machine.ts";

const DEPTH = 3;

export async function startEvmMachine(chainId = 31_477): Promise<Machine> {
  const node = await startAnvil({ chainId });
  const rpc = rpcAt(node.url);
  const [, ...addresses] = (await rpc("eth_accounts")) as Address[];
  const [user, solver, alice] = addresses.map((address) => address.toLowerCase() as Address);
  if (user === undefined || solver === undefined || alice === undefined) throw new Error("no accounts");
  const accounts = { user, solver, alice };
  const receipt: MachineBase["receipt"] = async (id) =>
    (await rpc("eth_getTransactionReceipt", [id])) as Awaited<ReturnType<MachineBase["receipt"]>>;
  return await withContracts({
    family: "ethereum-vm",
    urls: [node.url],
    rpc,
    chainId,
    depth: DEPTH,
    nativeFunds: 10n ** 22n,
    accounts,
    format: (address) => address,
    send: async (who, { to, data, value = 0n }) => {
      const hash = (await rpc("eth_sendTransaction", [
        { from: accounts[who], to, data, value: `0x${value.toString(16)}`, gas: "0x1e8480" },
      ])) as Hex;
      for (let tries = 0; tries < 500 && (await rpc("eth_getTransactionReceipt", [hash])) === null; tries++)
        await new Promise((resolve) => setTimeout(resolve, 5));
      return hash;
    },
    receipt,
    chainAt: (urls, { depository, router }) => ({
      name: "mainland",
      vmType: "ethereum-vm",
      rpcUrls: urls,
      rpcQuorum: 1,
      depository,
      additionalDepositories: [],
      hubChainId: String(chainId),
      evm: {
        chainId,
        finality: { kind: "depth", blocks: BigInt(DEPTH), seconds: 0n },
        blockTimeSeconds: 1,
        fillContracts: [router],
        isZksyncStack: false,
      },
    }),
    otherFormats: (id) => [
      id.slice(2),
      id.toUpperCase(),
      `0x${id.slice(2).toUpperCase()}`,
      `0x0${id.slice(2)}`,
    ],
    close: async () => await node.stop(),
  });
}
