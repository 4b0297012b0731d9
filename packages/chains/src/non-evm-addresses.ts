import type { Hex } from "@causeway/domain";
import { RpcFault } from "@causeway/families";
import { agreedOn, queryAll, reachedBy, type Answer, type Poll } from "./nodes/query-all.ts";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import { createUnconfirmedClaims } from "./nodes/unconfirmed-claims.ts";
import type {
  AddressBalances,
  AddressToRead,
  NonEvmConnection,
  NonEvmDepositAddresses,
} from "./non-evm-connection.ts";
import { electorateOf, type OutcomeQuorum } from "./non-evm-outcomes.ts";

const QUESTION = "balances";

type Balance = AddressBalances["balances"][number];

/**
 * What a quorum of endpoints shows at deposit addresses. A balance on which no quorum agrees was not read, so
 * that nothing is decided about it. Undefined: deposit addresses are not enabled.
 */
export function createSharedAddresses(
  connections: readonly NonEvmConnection[],
  order: EndpointOrder,
  options: OutcomeQuorum,
): NonEvmDepositAddresses | undefined {
  const first = connections[0]?.depositAddresses;
  if (first === undefined) return undefined;
  const { quorum, onDisagreement, now } = options;
  const isTrusted = connections.length === 1 || quorum === 1;
  const electorate = electorateOf(connections, order, options);
  const claims = createUnconfirmedClaims<number>(now);
  const addressesOf = (index: number): NonEvmDepositAddresses =>
    connections[index]?.depositAddresses ?? first;
  const { refusalOf, problem } = first;

  async function query<T>(
    read: (addresses: NonEvmDepositAddresses) => Promise<T>,
    decide: Poll<number, T, T>["decide"],
  ): Promise<T> {
    if (isTrusted) return await order.run(async (index) => await read(addressesOf(index)));
    return await queryAll<number, T, T>(electorate, {
      question: QUESTION,
      read: async (index) => {
        try {
          return await read(addressesOf(index));
        } catch (fault) {
          // An inconsistency means that a block arrived during the read, which is not the endpoint's fault.
          if (!(fault instanceof RpcFault) || fault.kind !== "inconsistent") order.noteFault(index, fault);
          throw fault;
        }
      },
      decide,
    });
  }

  /** Reports endpoints that show another balance than the quorum for 30 s. */
  function reportDiffering(
    answers: readonly Answer<number, AddressBalances>[],
    agreed: readonly Balance[],
  ): void {
    const shown = answers.map(({ endpoint, value }) => ({ endpoint, amounts: amountsIn(value) }));
    const late = new Set<number>();
    for (const { account, currency, amount } of agreed) {
      const key = balanceKey({ account, currency });
      const differing = shown.map(({ endpoint, amounts }) => ({
        endpoint,
        value: amounts.get(key) === undefined || amounts.get(key) === amount ? 0 : 1,
      }));
      for (const endpoint of claims.unconfirmed(key, 0, differing)) late.add(endpoint);
    }
    if (late.size > 0) onDisagreement(QUESTION, [...late]);
  }

  return {
    kind: first.kind,
    addressOf: (key) => first.addressOf(key),
    sweepCost: (paymentCost) => first.sweepCost(paymentCost),
    ...(refusalOf && {
      refusalOf: async (payment) =>
        await order.run(async (index) => await (addressesOf(index).refusalOf ?? refusalOf)(payment)),
    }),
    ...(problem && {
      problem: async () => {
        const { found: reason } = await query(
          async (addresses) => ({ found: await (addresses.problem ?? problem)() }),
          (answers) => valueOf(agreedOn(answers, quorum, (answer) => answer.found ?? "")),
        );
        return reason;
      },
    }),
    newest: async () =>
      await query(
        async (addresses) => await addresses.newest(),
        (answers, isComplete) => {
          const agreed = agreedOn(answers, quorum, ({ number, hash }) => `${number} ${hash}`);
          if (agreed !== undefined || !isComplete) return valueOf(agreed);
          const numbers = answers.map(({ value }) => value.number);
          return valueOf(answers.find(({ value }) => value.number === reachedBy(quorum, numbers))?.value);
        },
      ),
    balances: async (addresses, currencies) => {
      let allAnswers: readonly Answer<number, AddressBalances>[] = [];
      const agreed = await query(
        async (depositAddresses) => await depositAddresses.balances(addresses, currencies),
        (answers, isComplete) => {
          allAnswers = answers;
          return valueOf(agreedBalances(answers, { quorum, addresses, isComplete }));
        },
      );
      if (!isTrusted) reportDiffering(allAnswers, agreed.balances);
      return agreed;
    },
    sweepable: async (...args) =>
      await query(
        async (addresses) => await addresses.sweepable(...args),
        (answers, isComplete) => {
          const agreed = agreedOn(answers, quorum, String);
          if (agreed !== undefined || !isComplete) return valueOf(agreed);
          // The greatest amount that a quorum shows.
          return valueOf(
            reachedBy(
              quorum,
              answers.map(({ value }) => value),
            ),
          );
        },
      ),
  };
}

/**
 * The balances on which a quorum agrees, at the newest block that a quorum has reached. Undefined: wait for
 * more endpoints. Pure.
 */
function agreedBalances(
  answers: readonly Answer<number, AddressBalances>[],
  {
    quorum,
    addresses,
    isComplete,
  }: {
    readonly quorum: number;
    readonly addresses: readonly AddressToRead[];
    readonly isComplete: boolean;
  },
): AddressBalances | undefined {
  const atBlock = reachedBy(
    quorum,
    answers.map(({ value }) => value.atBlock),
  );
  const firstBalances = answers[0]?.value.balances;
  if (atBlock === undefined || firstBalances === undefined) return undefined;
  const isOneBlock = answers.every(({ value }) => value.atBlock === atBlock);
  if (!isOneBlock && !isComplete) return undefined;
  const swept = new Set(addresses.filter(({ sweeps }) => sweeps.length > 0).map(({ address }) => address));
  const shown = answers.map(({ endpoint, value }) => ({
    endpoint,
    atBlock: value.atBlock,
    amounts: amountsIn(value),
  }));
  const balances = firstBalances.map(({ account, currency }): Balance => {
    const key = balanceKey({ account, currency });
    const amounts = shown.flatMap((answer) => {
      const value = answer.amounts.get(key);
      return value === undefined ? [] : [{ ...answer, value }];
    });
    const isSame = new Set(amounts.map(({ value }) => value)).size === 1;
    // Balances at different blocks are not comparable after a sweep: one may include it while another does
    // not, so its amount would be subtracted twice, or never. A balance before `atBlock` may even lack a
    // final sweep.
    const comparable = amounts.filter((balance) =>
      isSame || !swept.has(account) ? balance.atBlock >= atBlock : balance.atBlock === atBlock,
    );
    return { account, currency, amount: agreedOn(comparable, quorum, String) };
  });
  if (!isComplete && balances.some(({ amount }) => amount === undefined)) return undefined;
  return { atBlock, balances };
}

function amountsIn({ balances }: AddressBalances): ReadonlyMap<string, bigint | undefined> {
  return new Map(balances.map((balance) => [balanceKey(balance), balance.amount]));
}

function balanceKey({ account, currency }: { readonly account: Hex; readonly currency: Hex }): string {
  return `${account} ${currency}`;
}

function valueOf<T>(value: T | undefined): { readonly value: T } | undefined {
  return value === undefined ? undefined : { value };
}
