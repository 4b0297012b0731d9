// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title What is used here of EIP-3009.
interface IERC3009 {
    /// Moves what `from` signed, for a caller that is the payee.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external;
}
