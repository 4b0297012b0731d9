import { createRequire } from "node:module";
import { concat, getContractAddress, pad, type Address, type Hex } from "viem";
import { entryPoint07Address, entryPoint08Address } from "viem/account-abstraction";
import { privateKeyToAccount } from "viem/accounts";
import { localAccount } from "./accounts.ts";
import { deterministicDeployer } from "@causeway/contracts/deploy";
import {
  createLocalClient,
  LocalTransactionFailed,
  sendPipelined,
  type NodeAddress,
} from "@causeway/testkit";

/**
 * ERC-4337 contracts of the local chains. They have the same addresses as on public chains, because creation
 * code, factory and salt are the same.
 */
export interface AccountAbstractionContracts {
  readonly entryPoint07: Address;
  readonly entryPoint08: Address;
  /** Delegate of EIP-7702 accounts. Accepts calls only from itself and from `entryPoint08`. */
  readonly simple7702Account: Address;
  /** Creates accounts that accept calls from `entryPoint07`. */
  readonly simpleAccountFactory: Address;
  /** Creates accounts that accept calls from `entryPoint08`. */
  readonly simpleAccountFactory08: Address;
}

/** The addresses, known before deployment. */
export const localAccountAbstraction: AccountAbstractionContracts = {
  entryPoint07: entryPoint07Address,
  entryPoint08: entryPoint08Address,
  simple7702Account: "0xe6Cae83BdE06E4c305530e199D7217f42808555B",
  simpleAccountFactory: "0x91E60e0613810449d098b0b5Ec8b51A0FE8c8985",
  simpleAccountFactory08: "0x13E9ed32155810FDbd067D4522C492D6f68E5944",
};

/**
 * Deploys them to a local chain. Run it after `deployLocal`.
 *
 * @throws LocalTransactionFailed if they are deployed already, or if their creation code differs from that on
 * public chains
 */
export async function deployAccountAbstraction(node: NodeAddress): Promise<AccountAbstractionContracts> {
  const creations = readCreations();
  for (const { name, salt, code } of creations) {
    const address = getContractAddress({
      opcode: "CREATE2",
      from: deterministicDeployer,
      salt,
      bytecode: code,
    });
    if (address !== localAccountAbstraction[name])
      throw new LocalTransactionFailed(
        `${name} would be deployed at ${address}, expected ${localAccountAbstraction[name]}`,
      );
  }
  const calls = creations.map(({ name, salt, code }) => ({
    label: `creation of ${name}`,
    to: deterministicDeployer,
    data: concat([salt, code]),
  }));
  const from = privateKeyToAccount(localAccount("deployer").privateKey);
  await sendPipelined(createLocalClient(node), from, calls, 6_000_000n);
  return localAccountAbstraction;
}

interface Creation {
  readonly name: keyof AccountAbstractionContracts;
  readonly salt: Hex;
  readonly code: Hex;
}

/**
 * Ordered so that each constructor finds the contracts it calls. The creation code comes from packages that
 * the authors publish.
 */
function readCreations(): Creation[] {
  const noSalt = pad("0x");
  const { entryPoint07, entryPoint08 } = localAccountAbstraction;
  return [
    {
      name: "entryPoint07",
      salt: "0x90d8084deab30c2a37c45e8d47f49f2f7965183cb6990a98943ef94940681de3",
      code: creationCode("account-abstraction-0.7", "EntryPoint"),
    },
    {
      name: "entryPoint08",
      salt: "0x0a59dbff790c23c976a548690c27297883cc66b4c67024f9117b0238995e35e9",
      code: creationCode("@account-abstraction/contracts", "EntryPoint"),
    },
    {
      name: "simple7702Account",
      salt: noSalt,
      code: creationCode("@account-abstraction/contracts", "Simple7702Account"),
    },
    {
      name: "simpleAccountFactory",
      salt: noSalt,
      code: concat([creationCode("account-abstraction-0.7", "SimpleAccountFactory"), pad(entryPoint07)]),
    },
    {
      name: "simpleAccountFactory08",
      salt: noSalt,
      code: concat([
        creationCode("@account-abstraction/contracts", "SimpleAccountFactory"),
        pad(entryPoint08),
      ]),
    },
  ];
}

const artifacts = createRequire(import.meta.url);

function creationCode(packageName: string, contract: string): Hex {
  const { bytecode } = artifacts(`${packageName}/artifacts/${contract}.json`) as { readonly bytecode: Hex };
  return bytecode;
}
