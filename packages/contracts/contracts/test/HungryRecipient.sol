// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Accepts native with little gas until it is set to waste its payer's gas.
contract HungryRecipient {
    enum Appetite {
        Modest,
        /// Uses all its gas and therefore fails.
        BurnsAll,
        /// Uses nearly all its gas and accepts the native.
        BurnsMost,
        /// Returns as many bytes as its gas allows and accepts the native.
        AnswersMuch,
        /// Reverts with as many bytes as its gas allows.
        RefusesMuch
    }

    Appetite public appetite;

    function wake(Appetite appetite_) external {
        appetite = appetite_;
    }

    receive() external payable {
        if (appetite == Appetite.Modest) return;
        uint256 spared = appetite == Appetite.BurnsAll ? 0 : 2_000;
        if (appetite == Appetite.BurnsAll || appetite == Appetite.BurnsMost) {
            while (gasleft() > spared) {}
            return;
        }
        bool takes = appetite == Appetite.AnswersMuch;
        // 64 KiB of memory cost about 14,000 gas; the rest that the gas allows is added in steps of a
        // quarter.
        assembly ("memory-safe") {
            let size := 65536
            for {} gt(gas(), 25000) { size := add(size, 16384) } { mstore(size, 1) }
            if takes { return(0, size) }
            revert(0, size)
        }
    }
}
