// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Forwards payments with only the 2,300 gas of every payment.
contract FrugalPayer {
    error Refused();

    function pay(address to) external payable {
        (bool success,) = to.call{value: msg.value, gas: 0}("");
        if (!success) revert Refused();
    }
}
