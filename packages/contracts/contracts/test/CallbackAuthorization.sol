// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CallbackToken} from "./CallbackToken.sol";

/// @title A token with callbacks that accepts every EIP-3009 authorization.
contract CallbackAuthorization is CallbackToken {
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256,
        uint256,
        bytes32,
        uint8,
        bytes32,
        bytes32
    ) external {
        _transfer(from, to, value);
    }
}
