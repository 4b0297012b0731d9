// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Fails in every way in which a call can fail, directly or through other contracts.
contract Failures {
    enum Choice {
        First
    }

    error InvalidSignature();
    error TooMuch(uint256 wanted, address who, string why);

    event Swallowed(bool success);

    uint256[] private list;
    function(uint256) internal unset;

    function addTo(uint256 value) external pure returns (uint256) {
        return value + type(uint256).max;
    }

    function divideBy(uint256 value) external pure returns (uint256) {
        return 1 / value;
    }

    function elementAt(uint256 index) external view returns (uint256) {
        return list[index];
    }

    function popFromEmpty() external {
        list.pop();
    }

    function choose(uint256 value) external pure returns (Choice) {
        return Choice(value);
    }

    function assertFalse() external pure {
        assert(false);
    }

    function allocate(uint256 size) external pure returns (uint256) {
        return new uint256[](size).length;
    }

    function callUnset() external {
        unset(1);
    }

    function say(string calldata text) external pure {
        revert(text);
    }

    function refuseSignature() external pure {
        revert InvalidSignature();
    }

    function refuseTooMuch(uint256 wanted, address who, string calldata why) external pure {
        revert TooMuch(wanted, who, why);
    }

    function refuseWith(bytes calldata data) external pure {
        bytes memory copy = data;
        assembly ("memory-safe") {
            revert(add(copy, 32), mload(copy))
        }
    }

    function runOutOfGas() external pure {
        while (true) {}
    }

    function runInvalid() external pure {
        assembly ("memory-safe") {
            invalid()
        }
    }

    function write(uint256 value) external {
        list.push(value);
    }

    function clear() external {
        delete list;
    }

    /// Forwards a failure unchanged.
    function forward(address target, bytes calldata data) public payable returns (bytes memory) {
        (bool success, bytes memory answer) = target.call{value: msg.value}(data);
        if (!success) _bubble(answer);
        return answer;
    }

    function forwardStatic(address target, bytes calldata data) external view returns (bytes memory) {
        (bool success, bytes memory answer) = target.staticcall(data);
        if (!success) _bubble(answer);
        return answer;
    }

    function forwardDelegate(address target, bytes calldata data) external payable returns (bytes memory) {
        (bool success, bytes memory answer) = target.delegatecall(data);
        if (!success) _bubble(answer);
        return answer;
    }

    /// Fails without revert data if the call fails; limits its gas to `gasLimit`.
    function forwardSilently(address target, bytes calldata data, uint256 gasLimit) external {
        (bool success,) = target.call{gas: gasLimit}(data);
        if (!success) {
            assembly ("memory-safe") {
                revert(0, 0)
            }
        }
    }

    /// Ignores a failure of the call and fails with its own reason.
    function forwardThenSay(address target, bytes calldata data, string calldata text) external {
        (bool success,) = target.call(data);
        emit Swallowed(success);
        revert(text);
    }

    /// Ignores a failure of the call.
    function swallow(address target, bytes calldata data) external {
        (bool success,) = target.call(data);
        emit Swallowed(success);
    }

    /// Requires more gas than it uses.
    function wantGas(uint256 least) external {
        require(gasleft() > least, "too little gas");
        emit Swallowed(false);
    }

    /// Has the selector of ERC-7710, so that its failure is one of redeeming.
    function redeemDelegations(bytes[] calldata contexts, bytes32[] calldata, bytes[] calldata) external {
        (address target, bytes memory data) = abi.decode(contexts[0], (address, bytes));
        (bool success, bytes memory answer) = target.call(data);
        if (!success) _bubble(answer);
    }

    function _bubble(bytes memory answer) private pure {
        assembly ("memory-safe") {
            revert(add(answer, 32), mload(answer))
        }
    }
}
