export { signatureToHex } from "./signer/signer.ts";
export type { Signature, Signer } from "./signer/signer.ts";
export type { Preimage, TypedData } from "./signer/preimage.ts";
export { rawKeySigner } from "./signer/raw-key.ts";
export { signPersonalMessage, signTypedData } from "./signer/personal-message.ts";
export { curve } from "./signer/chosen-curve.ts";
export type { Curve, CurveSignature } from "./signer/curve.ts";
export { nativeCurve } from "./signer/native-curve.ts";
export { portableCurve } from "./signer/portable-curve.ts";
export { parseSignature, recoverSigner } from "./signer/recover-signer.ts";
export * from "./messages/chain-families.ts";
export * from "./messages/deterministic-id.ts";
export * from "./messages/settlement-keys.ts";
export * from "./messages/message-types.ts";
export * from "./messages/depository-deposit.ts";
export * from "./messages/depository-withdrawal.ts";
export * from "./messages/settlement-message.ts";
export * from "./messages/message-digest.ts";
export * from "./messages/execution.ts";
export * from "./messages/hub-action.ts";
export * from "./messages/hub-addressing.ts";
export * from "./messages/hub-executions.ts";
export * from "./messages/owner-authorization.ts";
export * from "./messages/submit-withdraw-request.ts";
export * from "./messages/set-entry.ts";
export * from "./messages/nonce-mapping.ts";
export type { AttestationRoute, ClaimedSignature, SignatureSlot } from "./aggregate/attestation-route.ts";
export type { AnswerSource, Arrival, Examined, QuorumPolicy, RecoverSigner } from "./aggregate/examine.ts";
export { examine } from "./aggregate/examine.ts";
export type { SignedGroup, QuorumState } from "./aggregate/quorum.ts";
export { answerOf, evaluateQuorum } from "./aggregate/quorum.ts";
export type { SignerPolicy, SignerSettings } from "./aggregate/signer-policy.ts";
export { readSignerPolicy } from "./aggregate/signer-policy.ts";
export type { PeerEndpoint, PeerList } from "./peers/peer-list.ts";
export { PLAINTEXT_URL, readPeerList, sendsKeyInClear } from "./peers/peer-list.ts";
export type { QueryOptions, Peer } from "./peers/peer.ts";
export { connectPeer } from "./peers/peer.ts";
export type { PeerReport, PeerWarning } from "./peers/peer-warning.ts";
export type { PeerAttestation, PeerAttested, Quorum } from "./peers/attest-with-peers.ts";
export { attestWithPeers, NoCountedSignature } from "./peers/attest-with-peers.ts";
export {
  awsKmsSigner,
  type AwsCredentials,
  type AwsKmsOptions,
  type AwsKmsSigner,
} from "./signer/aws-kms.ts";
export { connectedSigner, WrongKey, type ConnectedSigner } from "./signer/connected-signer.ts";
export { googleKmsSigner, type GoogleKmsOptions } from "./signer/google-kms.ts";
export { ethRpcSigner, web3Signer, type RemoteSignerOptions } from "./signer/remote-signer.ts";
export { signerHttp, type SignerHttp } from "./signer/signer-http.ts";
export { SignerUnavailable, type SignerFault } from "./signer/signer-unavailable.ts";
export { canonicalJson } from "./aggregate/canonical-json.ts";
