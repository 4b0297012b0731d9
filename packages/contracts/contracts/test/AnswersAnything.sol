// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestToken} from "./TestToken.sol";

/// @title A token that takes any call it does not know for done, as some wrapped natives do.
contract AnswersAnything is TestToken {
    constructor() TestToken("Answers Anything", "ANY") {}

    fallback() external payable {}

    receive() external payable {}
}
