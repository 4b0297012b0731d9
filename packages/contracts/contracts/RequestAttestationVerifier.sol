// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

/// What the solver attests about a request (`GET /requests/{requestId}/signature`). The signature depends on
/// the order of the fields.
struct RequestAttestation {
    bytes32 requestId;
    uint256 originChainId;
    bytes32 originUser;
    bytes32 originCurrency;
    uint256 originAmount;
    uint256 destinationChainId;
    bytes32 destinationUser;
}

/// @title Recovers the signer of a request's attestation.
/// @notice The solver signs the 32-byte hash of the attestation's ABI encoding as a personal message
/// (EIP-191). The hash includes neither a contract nor a chain, so a signature is valid everywhere: do not
/// treat it as a permission to act.
contract RequestAttestationVerifier {
    function hashOf(RequestAttestation calldata attestation) public pure returns (bytes32) {
        return keccak256(abi.encode(attestation));
    }

    /// @notice The signer; compare it with the solver's address. Reverts if the signature is invalid or not
    /// in its canonical form (65 bytes, s in the lower half).
    function signerOf(RequestAttestation calldata attestation, bytes calldata signature)
        external
        pure
        returns (address)
    {
        return ECDSA.recoverCalldata(MessageHashUtils.toEthSignedMessageHash(hashOf(attestation)), signature);
    }
}
