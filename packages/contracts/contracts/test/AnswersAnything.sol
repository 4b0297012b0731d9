// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestToken} from "./TestToken.sol";

/// @title A token that accepts any unknown call without effect, as some wrapped natives do.
contract AnswersAnything is TestToken {
    constructor() TestToken("Answers Anything", "ANY") {}

    fallback() external payable {}

    receive() external payable {}
}
