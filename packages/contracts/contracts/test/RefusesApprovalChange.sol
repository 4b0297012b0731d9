// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestToken} from "./TestToken.sol";

/// @title An allowance must be set to zero before it is set to another amount.
contract RefusesApprovalChange is TestToken {
    error AllowanceNotZero(uint256 current);

    constructor() TestToken("Refuses Approval Change", "REFUSE") {}

    function approve(address spender, uint256 value) public override returns (bool) {
        uint256 current = allowance(msg.sender, spender);
        if (value != 0 && current != 0) revert AllowanceNotZero(current);
        return super.approve(spender, value);
    }
}
