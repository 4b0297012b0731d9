import type { ChainReader } from "@causeway/chains";
import type { Address, Currency, Hex } from "@causeway/domain";
import {
  decodeFunctionResult,
  domainSeparator,
  encodeFunctionData,
  keccak256,
  parseAbi,
  toBytes,
} from "viem";
import type { ChainDirectory } from "./chains.port.ts";
import type { Clock } from "../db/clock.port.ts";
import type { PermitTokens, TokenPermits } from "./permits.port.ts";

/** How long permit support is cached. A token behind a proxy may change. */
const KEPT_MS = 60 * 60_000;
const MAX_ENTRIES = 10_000;

const abi = parseAbi([
  "function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)",
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function nonces(address owner) view returns (uint256)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "function RECEIVE_WITH_AUTHORIZATION_TYPEHASH() view returns (bytes32)",
  "function PERMIT_TYPEHASH() view returns (bytes32)",
]);
const hashOfText = (text: string): Hex => keccak256(toBytes(text));
const RECEIVE_TYPEHASH = hashOfText(
  "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)",
);
const PERMIT_TYPEHASH = hashOfText(
  "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)",
);
/** An arbitrary owner, to learn whether the token has nonces. */
const ANY_OWNER: Address = "0x0000000000000000000000000000000000000001";
const ANY_NONCE: Hex = `0x${"01".repeat(32)}`;
/** Name, version, chain and contract, and neither salt nor extensions (EIP-5267). */
const STANDARD_FIELDS = "0x0f";
/** The versions to try for tokens that do not report their version. */
const COMMON_VERSIONS = ["1", "2"] as const;

interface Entry {
  readonly readAtMs: number;
  readonly answer: TokenPermits | Promise<TokenPermits>;
}

/**
 * Probes which permits a token accepts. Only verified facts count: a permit in a wrong domain is refused
 * after the user has signed it. Concurrent equal questions share one probe.
 */
export function createTokenPermits(chains: Pick<ChainDirectory, "get">, monotonic: Clock): PermitTokens {
  const entries = new Map<string, Entry>();
  const readerOf = (chainId: number): ChainReader => {
    const connected = chains.get(chainId);
    if (connected === undefined) throw new RangeError(`chain ${chainId} is not configured`);
    return connected.connection.reader;
  };
  return {
    permitsOf(currency) {
      const key = `${currency.chainId}:${currency.address}`;
      const entry = entries.get(key);
      if (entry !== undefined && monotonic.nowMs() - entry.readAtMs < KEPT_MS) return entry.answer;
      const readAtMs = monotonic.nowMs();
      const pending = probe(readerOf(currency.chainId), currency).then(
        (answer) => {
          entries.set(key, { readAtMs, answer });
          return answer;
        },
        (error: unknown) => {
          entries.delete(key);
          throw error;
        },
      );
      const oldest = entries.size >= MAX_ENTRIES ? entries.keys().next().value : undefined;
      if (oldest !== undefined) entries.delete(oldest);
      entries.set(key, { readAtMs, answer: pending });
      return pending;
    },
    async nonceOf(currency, owner) {
      const nonce = await tokenCalls(readerOf(currency.chainId), currency.address).nonces(owner);
      // The token had nonces when it was probed.
      if (nonce === undefined)
        throw new RangeError(`token ${currency.address} no longer returns permit nonces`);
      return nonce;
    },
  };
}

async function probe(
  reader: ChainReader,
  { address, chainId, supportsPermit }: Currency,
): Promise<TokenPermits> {
  const calls = tokenCalls(reader, address);
  const [described, name, version, separator, nonce, isUsed, receiveTypehash, permitTypehash] =
    await Promise.all([
      calls.eip712Domain(),
      calls.name(),
      calls.version(),
      calls.separator(),
      calls.nonces(ANY_OWNER),
      calls.authorizationState(),
      calls.receiveTypehash(),
      calls.permitTypehash(),
    ]);
  const separatorOf = (domain: { name: string; version: string }): Hex =>
    domainSeparator({ domain: { ...domain, chainId, verifyingContract: address } });
  const candidates =
    described === undefined
      ? [version, ...COMMON_VERSIONS].flatMap((candidate) =>
          name === undefined || candidate === undefined ? [] : [{ name, version: candidate }],
        )
      : described.isStandard && described.chainId === BigInt(chainId) && described.contract === address
        ? [{ name: described.name, version: described.version }]
        : [];
  // A token that describes its domain need not expose its hash; an exposed hash must match.
  const domain = candidates.find((candidate) =>
    separator === undefined ? described !== undefined : separatorOf(candidate) === separator,
  );
  return {
    domain,
    eip3009: domain !== undefined && isUsed !== undefined && receiveTypehash === RECEIVE_TYPEHASH,
    // Many tokens do not expose the type hash; a different one (a permit for any amount, for example) is
    // another kind of permit.
    eip2612:
      domain !== undefined &&
      separator !== undefined &&
      nonce !== undefined &&
      (permitTypehash === undefined
        ? supportsPermit || described !== undefined
        : permitTypehash === PERMIT_TYPEHASH),
  };
}

/** Calls to one token. Each resolves to undefined without an answer of the expected type. */
function tokenCalls(reader: Pick<ChainReader, "ask">, token: Address) {
  const read = async <T>(data: Hex, decode: (answer: Hex) => T): Promise<T | undefined> => {
    const answer = await reader.ask(token, data);
    if (answer === undefined || answer === "0x") return undefined;
    try {
      return decode(answer);
    } catch {
      return undefined;
    }
  };
  const text = (functionName: "name" | "version") =>
    read(encodeFunctionData({ abi, functionName }), (data) =>
      decodeFunctionResult({ abi, functionName, data }),
    );
  const word = (
    functionName: "DOMAIN_SEPARATOR" | "RECEIVE_WITH_AUTHORIZATION_TYPEHASH" | "PERMIT_TYPEHASH",
  ) =>
    read(encodeFunctionData({ abi, functionName }), (data) =>
      decodeFunctionResult({ abi, functionName, data }),
    );
  return {
    eip712Domain: () =>
      read(encodeFunctionData({ abi, functionName: "eip712Domain" }), (data) => {
        const [fields, name, version, chainId, contract, , extensions] = decodeFunctionResult({
          abi,
          functionName: "eip712Domain",
          data,
        });
        const isStandard = fields === STANDARD_FIELDS && extensions.length === 0;
        return { isStandard, name, version, chainId, contract: contract.toLowerCase() };
      }),
    name: () => text("name"),
    version: () => text("version"),
    separator: () => word("DOMAIN_SEPARATOR"),
    receiveTypehash: () => word("RECEIVE_WITH_AUTHORIZATION_TYPEHASH"),
    permitTypehash: () => word("PERMIT_TYPEHASH"),
    nonces: (owner: Address) =>
      read(encodeFunctionData({ abi, functionName: "nonces", args: [owner] }), (data) =>
        decodeFunctionResult({ abi, functionName: "nonces", data }),
      ),
    authorizationState: () =>
      read(
        encodeFunctionData({ abi, functionName: "authorizationState", args: [ANY_OWNER, ANY_NONCE] }),
        (data) => decodeFunctionResult({ abi, functionName: "authorizationState", data }),
      ),
  };
}
