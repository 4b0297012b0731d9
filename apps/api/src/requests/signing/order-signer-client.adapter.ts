import { messageDigest, recoverSigner, SignerUnavailable, type SignerHttp } from "@causeway/attest";
import { orderDigest, orderIdOf, orderToJson, type Address, type Hex, type Hex32 } from "@causeway/domain";
import { signOrderAnswer, signRequestAnswer } from "@causeway/wire";
import { requestHashes } from "./key-order-signer.ts";
import type { OrderSigner } from "./order-signer.port.ts";

/**
 * The signer process. Its signatures are verified: otherwise, a signature by a wrong key or over other data
 * would reach clients as the solver's.
 */
export function orderSignerClient(
  http: Pick<SignerHttp, "call">,
  solver: Address,
  token: string | undefined,
): OrderSigner {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const call = async (path: string, body: object): Promise<unknown> =>
    await http.call({ method: "POST", path, headers, body });
  const verify = (digest: Hex32, signature: string): Hex => {
    if (recoverSigner(digest, signature) !== solver) throw new SignerUnavailable("bad-answer");
    return signature as Hex;
  };
  return {
    async signOrder(order) {
      const answer = signOrderAnswer.safeParse(await call("/v1/orders", { order: orderToJson(order) }));
      if (!answer.success) throw new SignerUnavailable("bad-answer");
      const orderId = orderIdOf(order);
      return {
        personal: verify(messageDigest(orderId), answer.data.personal),
        typed: verify(orderDigest(orderId), answer.data.typed),
      };
    },
    async signRequest(layout, facts) {
      const body = { layout, facts: { ...facts, originAmount: facts.originAmount.toString() } };
      const answer = signRequestAnswer.safeParse(await call("/v1/requests", body));
      if (!answer.success) throw new SignerUnavailable("bad-answer");
      return verify(messageDigest(requestHashes[layout](facts)), answer.data.signature);
    },
  };
}
