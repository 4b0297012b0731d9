// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A call target that succeeds or fails as a test requires.
contract Probe {
    event Poked(address caller, uint256 number, uint256 value);

    error Refused(uint256 code, string reason);

    /// The numbers in the order of the calls.
    uint256[] public numbers;

    function poke(uint256 number) external payable returns (uint256) {
        numbers.push(number);
        emit Poked(msg.sender, number, msg.value);
        return number + 1;
    }

    function refuse(uint256 code) external payable {
        revert Refused(code, "refused");
    }

    function refuseSilently() external payable {
        assembly {
            revert(0, 0)
        }
    }

    /// Sends back half of the value.
    function giveHalfBack() external payable {
        (bool success,) = msg.sender.call{value: msg.value / 2}("");
        require(success, "half not taken");
    }
}
