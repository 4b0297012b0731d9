// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The wrapped native token (such as WETH), with the functions that it has on every chain.
interface IWrappedNative {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}
