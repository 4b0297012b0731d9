// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestToken} from "./TestToken.sol";

/// @title Returns false for every transfer instead of reverting, and moves nothing.
contract ReturnsFalse is TestToken {
    constructor() TestToken("Returns False", "FALSE") {}

    function transfer(address, uint256) public pure override returns (bool) {
        return false;
    }

    function transferFrom(address, address, uint256) public pure override returns (bool) {
        return false;
    }
}
