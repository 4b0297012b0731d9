// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title Code of an account (EIP-7702) that executes calls signed by its own key, from any submitter.
contract SignedBatch {
    bytes32 public constant SALT = keccak256("causeway.test.SignedBatch");
    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)");
    bytes32 private constant CALL_TYPE = keccak256("BatchedCall(address to,uint256 value,bytes data)");
    bytes32 private constant BATCH_TYPE =
        keccak256("Batch(BatchedCall[] calls,uint256 nonce)BatchedCall(address to,uint256 value,bytes data)");

    struct BatchedCall {
        address to;
        uint256 value;
        bytes data;
    }

    uint256 public nextNonce;

    error WrongSigner(address signer);
    error CallFailed(uint256 index);

    /// @param wrappedSignature abi.encode(signature, hookData), as batch executors expect it
    function execute(BatchedCall[] calldata calls, bytes calldata wrappedSignature) external {
        (bytes memory signature, ) = abi.decode(wrappedSignature, (bytes, bytes));
        address signer = ECDSA.recover(digestOf(calls, nextNonce++), signature);
        require(signer == address(this), WrongSigner(signer));
        for (uint256 i = 0; i < calls.length; i++) {
            (bool success, ) = calls[i].to.call{value: calls[i].value}(calls[i].data);
            require(success, CallFailed(i));
        }
    }

    function digestOf(BatchedCall[] calldata calls, uint256 nonce) public view returns (bytes32) {
        bytes32[] memory hashes = new bytes32[](calls.length);
        for (uint256 i = 0; i < calls.length; i++)
            hashes[i] = keccak256(abi.encode(CALL_TYPE, calls[i].to, calls[i].value, keccak256(calls[i].data)));
        bytes32 domain = keccak256(
            abi.encode(DOMAIN_TYPE, keccak256("SignedBatch"), keccak256("1"), block.chainid, address(this), SALT)
        );
        bytes32 batch = keccak256(abi.encode(BATCH_TYPE, keccak256(abi.encodePacked(hashes)), nonce));
        return keccak256(abi.encodePacked("\x19\x01", domain, batch));
    }

    receive() external payable {}
}
