// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {WETH} from "solady/src/tokens/WETH.sol";

/// @title The native currency as a token, for tests.
contract WrappedEther is WETH {}
