// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestToken} from "./TestToken.sol";

/// @title Refuses to move tokens to a listed address.
contract BlocksRecipient is TestToken {
    error RecipientBlocked(address recipient);

    mapping(address recipient => bool) public blocked;

    constructor() TestToken("Blocks Recipient", "BLOCK") {}

    function setBlocked(address recipient, bool isBlocked) external {
        blocked[recipient] = isBlocked;
    }

    function _update(address from, address to, uint256 value) internal override {
        if (blocked[to]) revert RecipientBlocked(to);
        super._update(from, to, value);
    }
}
