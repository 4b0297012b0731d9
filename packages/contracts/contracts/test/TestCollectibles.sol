// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";

/// @title An ERC-721 collection that anyone may mint.
contract TestPiece is ERC721 {
    constructor() ERC721("Piece", "PCE") {}

    function mint(address to, uint256 id) external {
        _mint(to, id);
    }
}

/// @title An ERC-1155 collection that anyone may mint.
contract TestKinds is ERC1155 {
    constructor() ERC1155("") {}

    function mint(address to, uint256 id, uint256 amount) external {
        _mint(to, id, amount, "");
    }
}
