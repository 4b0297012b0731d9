// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {WETH} from "solady/src/tokens/WETH.sol";

/// @title Native as a token, for tests.
contract WrappedEther is WETH {}
