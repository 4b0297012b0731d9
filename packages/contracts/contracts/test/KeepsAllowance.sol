// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RefusesApprovalChange} from "./RefusesApprovalChange.sol";

/// @title A transfer does not reduce the allowance, which must be set to zero before it can be changed.
contract KeepsAllowance is RefusesApprovalChange {
    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        require(allowance(from, msg.sender) >= value);
        _transfer(from, to, value);
        return true;
    }
}
