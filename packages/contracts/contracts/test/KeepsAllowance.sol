// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RefusesApprovalChange} from "./RefusesApprovalChange.sol";

/// @title What was allowed once stays allowed, and must be set to zero before it is set to another amount.
contract KeepsAllowance is RefusesApprovalChange {
    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        require(allowance(from, msg.sender) >= value);
        _transfer(from, to, value);
        return true;
    }
}
