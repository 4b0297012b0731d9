// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

/// What the solver says of a request (`GET /requests/{requestId}/signature`). Field order is part of what is signed.
struct RequestAttestation {
    bytes32 requestId;
    uint256 originChainId;
    bytes32 originUser;
    bytes32 originCurrency;
    uint256 originAmount;
    uint256 destinationChainId;
    bytes32 destinationUser;
}

/// @title Tells who signed the attestation of a request.
/// @notice The solver signs, as a personal message (EIP-191), the 32 bytes of the hash of the attestation's ABI encoding.
/// The hash names no contract and no chain: a signature is as true everywhere, so do not take it for a permission to act.
contract RequestAttestationVerifier {
    function hashOf(RequestAttestation calldata attestation) public pure returns (bytes32) {
        return keccak256(abi.encode(attestation));
    }

    /// @notice Who signed; compare it with the solver's address. Reverts when it is no signature at all, or is not in its
    /// canonical form (65 bytes, s in the lower half).
    function signerOf(RequestAttestation calldata attestation, bytes calldata signature)
        external
        pure
        returns (address)
    {
        return ECDSA.recoverCalldata(MessageHashUtils.toEthSignedMessageHash(hashOf(attestation)), signature);
    }
}
