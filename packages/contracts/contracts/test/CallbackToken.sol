// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestToken} from "./TestToken.sol";

/// @title Calls a chosen target once during the next transfer and records the result.
contract CallbackToken is TestToken {
    address public target;
    bytes public data;
    bool public called;
    bool public succeeded;
    bytes public answer;

    constructor() TestToken("Callback Token", "BACK") {}

    function arm(address target_, bytes calldata data_) external {
        (target, data, called, succeeded, answer) = (target_, data_, false, false, "");
    }

    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, value);
        if (target == address(0) || called) return;
        called = true;
        (succeeded, answer) = target.call(data);
    }
}
