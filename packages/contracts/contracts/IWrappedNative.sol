// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Native as a token, one for one, with the functions that every chain's has.
interface IWrappedNative {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}
