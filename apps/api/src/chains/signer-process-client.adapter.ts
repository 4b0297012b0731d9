import { parseSignature, recoverSigner, signerHttp, SignerUnavailable, type Signer } from "@causeway/attest";
import { orderToJson, type Address } from "@causeway/domain";
import { signOrderAnswer, signTransactionAnswer } from "@causeway/wire";

/**
 * A key in a separate signer process, which signs orders, and transactions that its rules allow. The process
 * receives their fields, never a digest.
 * @param url `unix:///<path>`, or http with the token as its password
 */
export function signerProcessClient(
  url: string,
  address: Address,
): Signer & { readonly close: () => Promise<void> } {
  const { protocol, origin, pathname, password } = new URL(url);
  const http = signerHttp(
    protocol === "unix:" ? { origin: "http://signer", socketPath: pathname } : { origin },
  );
  const headers = password === "" ? {} : { authorization: `Bearer ${decodeURIComponent(password)}` };
  const call = async (path: string, body: object): Promise<unknown> =>
    await http.call({ method: "POST", path, headers, body });

  return {
    address,
    async signDigest(digest, preimage) {
      if (preimage === undefined)
        throw new RangeError("invariant violated: a signer process signs no digest without its preimage");
      let signature: string | undefined;
      if (preimage.kind === "transaction") {
        const answer = await call("/v1/transactions", { unsigned: preimage.unsigned });
        signature = signTransactionAnswer.safeParse(answer).data?.signature;
      } else if (preimage.kind === "message" && preimage.order !== undefined) {
        const answer = await call("/v1/orders", { order: orderToJson(preimage.order) });
        signature = signOrderAnswer.safeParse(answer).data?.personal;
      } else throw new SignerUnavailable("refused");
      const parsed = signature === undefined ? undefined : parseSignature(signature);
      // A signature over any other digest recovers to another account.
      if (parsed === undefined || recoverSigner(digest, signature ?? "") !== address)
        throw new SignerUnavailable("bad-answer");
      return parsed;
    },
    close: async () => await http.close(),
  };
}
