// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestToken} from "./TestToken.sol";

/// @title Burns one percent of every transfer, so the receiver gets less than was sent.
contract FeeOnTransfer is TestToken {
    constructor() TestToken("Fee On Transfer", "FEE") {}

    function _update(address from, address to, uint256 value) internal override {
        if (from == address(0) || to == address(0)) return super._update(from, to, value);
        uint256 fee = value / 100;
        super._update(from, address(0), fee);
        super._update(from, to, value - fee);
    }
}
