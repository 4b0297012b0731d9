// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The part of EIP-3009 that is used here.
interface IERC3009 {
    /// Transfers what `from` signed. The caller must be the payee.
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
