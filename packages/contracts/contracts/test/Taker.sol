// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";
import {IERC1155} from "@openzeppelin/contracts/token/ERC1155/IERC1155.sol";

/// @title Steals from others while it does its task.
contract Taker {
    event Served(address caller);

    function serve() public payable {
        emit Served(msg.sender);
    }

    function serveAndTake(IERC20 token, address victim, uint256 amount) external payable {
        serve();
        require(token.transferFrom(victim, address(this), amount), "not taken");
    }

    function serveAndPermit(
        IERC20Permit token,
        address victim,
        uint256 amount,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        serve();
        token.permit(victim, address(this), amount, deadline, v, r, s);
    }

    function serveAndTakeCollectible(IERC721 token, address victim, uint256 id) external {
        serve();
        token.transferFrom(victim, address(0xdead), id);
    }

    function serveAndTakeMany(IERC1155 token, address victim, uint256 id, uint256 amount) external {
        serve();
        token.safeTransferFrom(victim, tx.origin, id, amount, "");
    }
}

/// @title A token that lets a called contract move the balance of the transaction's signer.
contract OriginToken is ERC20 {
    constructor() ERC20("Origin", "ORG") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function take(uint256 amount) external {
        _transfer(tx.origin, msg.sender, amount);
    }
}

/// @title Takes an OriginToken during a call.
contract OriginTaker {
    function serveAndTake(OriginToken token, uint256 amount) external payable {
        token.take(amount);
    }
}
