// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Pays on with the 2,300 gas that come with every payment, and no more.
contract FrugalPayer {
    error Refused();

    function pay(address to) external payable {
        (bool success,) = to.call{value: msg.value, gas: 0}("");
        if (!success) revert Refused();
    }
}
