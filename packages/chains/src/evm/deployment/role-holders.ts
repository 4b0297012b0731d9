import { parseAbi, type Address, type PublicClient } from "viem";

const abi = parseAbi([
  "event RolesUpdated(address indexed user, uint256 indexed roles)",
  "function rolesOf(address user) view returns (uint256)",
]);

/** Maximum log requests per contract. */
const MAX_REQUESTS = 200;

/** All accounts to which a contract ever granted a role; undefined: its logs cannot be read completely. */
export type RoleHolders = ReadonlySet<Address> | undefined;

/**
 * Reads every account whose roles a contract has ever changed, from its logs. Ranges that the node refuses
 * are halved. A node that leaves out the role of a planned holder does not have all logs.
 * @param planned accounts that must have a role
 * @throws the client's error if the node does not return its newest block
 */
export async function readRoleHolders(
  client: PublicClient,
  contract: Address,
  planned: readonly Address[],
): Promise<RoleHolders> {
  const holders = new Set<Address>();
  const pendingRanges = [{ from: 0n, to: await client.getBlockNumber({ cacheTime: 0 }) }];
  for (let requests = 0; ; requests++) {
    const range = pendingRanges.pop();
    if (range === undefined) break;
    if (requests === MAX_REQUESTS) return undefined;
    const { from, to } = range;
    const logs = await client
      .getLogs({ address: contract, event: abi[0], fromBlock: from, toBlock: to, strict: true })
      .catch(() => undefined);
    if (logs === undefined) {
      if (from === to) return undefined;
      const middle = (from + to) / 2n;
      pendingRanges.push({ from, to: middle }, { from: middle + 1n, to });
    } else for (const { args } of logs) holders.add(lower(args.user));
  }
  return planned.every((holder) => holders.has(lower(holder))) ? holders : undefined;
}

/** The accounts of `holders` that have a role but must not, each with its roles. */
export async function otherRoleHolders(
  client: PublicClient,
  contract: Address,
  holders: ReadonlySet<Address>,
  planned: readonly Address[],
): Promise<readonly string[]> {
  const allowed = new Set(planned.map(lower));
  const unplanned = [...holders].filter((holder) => !allowed.has(holder));
  const differences = await Promise.all(
    unplanned.map(async (holder) => {
      const roles = await client.readContract({
        abi,
        address: contract,
        functionName: "rolesOf",
        args: [holder],
      });
      return roles === 0n ? [] : [`rolesOf(${holder}) is ${roles}, expected 0: another account has a role`];
    }),
  );
  return differences.flat();
}

function lower(address: Address): Address {
  return address.toLowerCase() as Address;
}
