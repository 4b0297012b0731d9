// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {OwnableRoles} from "solady/src/auth/OwnableRoles.sol";

/// What the oracles signed when a withdrawal was initiated. Field order is part of its EIP-712 type.
struct SubmitWithdrawRequest {
    uint256 chainId;
    string depository;
    string currency;
    uint256 amount;
    /// The withdrawal address, which holds the amount on the hub.
    address spender;
    string receiver;
    bytes data;
    bytes32 nonce;
}

/// @title A public record: the only payload that was signed for each withdrawal.
/// @notice Before it signs a payload, the allocator records the payload's id here. A record cannot be
/// changed. An oracle attests that a withdrawal expired, and returns its amount on the hub, only when the
/// recorded payload can never be executed. So no other payload may ever be signed for that withdrawal.
contract Allocator is EIP712, OwnableRoles {
    event WithdrawalRecorded(
        address indexed withdrawalAddress, bytes32 indexed withdrawalId, SubmitWithdrawRequest params
    );

    error AddressCannotBeZero();
    error WithdrawalIdCannotBeZero();
    error InvalidSignature();
    /// The oracles signed this for another withdrawal address.
    error WrongSpender(address spender, address withdrawalAddress);
    /// The address already has a payload, or the payload already belongs to an address.
    error AlreadyRecorded(address withdrawalAddress, bytes32 withdrawalId);

    /// May record payloads.
    uint256 public constant ALLOCATOR_ROLE = _ROLE_0;

    bytes32 private constant SUBMIT_TYPEHASH = keccak256(
        "SubmitWithdrawRequest(uint256 chainId,string depository,string currency,uint256 amount,address spender,"
        "string receiver,bytes data,bytes32 nonce)"
    );

    /// The signer that proves that a withdrawal was initiated: the OracleMultisig, or an account.
    address public immutable oracle;

    /// The id of the payload of a withdrawal address; zero if there is none.
    mapping(address withdrawalAddress => bytes32) public withdrawalIdOf;

    /// The withdrawal address to which a payload belongs; zero if there is none.
    mapping(bytes32 withdrawalId => address) public withdrawalAddressOf;

    constructor(address owner_, address oracle_) EIP712("AllocatorSpender", "1") {
        if (owner_ == address(0) || oracle_ == address(0)) revert AddressCannotBeZero();
        _initializeOwner(owner_);
        oracle = oracle_;
    }

    /// @notice Records that `withdrawalId` is the payload of the withdrawal that the oracles signed. It
    /// cannot be undone.
    /// @param withdrawalId the payload's id in the format of its chain (EVM: the struct hash of the call
    /// request)
    function record(
        address withdrawalAddress,
        bytes32 withdrawalId,
        SubmitWithdrawRequest calldata params,
        bytes calldata oracleSignature
    ) external onlyRoles(ALLOCATOR_ROLE) {
        if (withdrawalId == 0) revert WithdrawalIdCannotBeZero();
        if (params.spender != withdrawalAddress) revert WrongSpender(params.spender, withdrawalAddress);
        if (withdrawalIdOf[withdrawalAddress] != 0 || withdrawalAddressOf[withdrawalId] != address(0)) {
            revert AlreadyRecorded(withdrawalAddress, withdrawalId);
        }
        bytes32 digest = _hashTypedDataV4(_hashParams(params));
        if (!SignatureChecker.isValidSignatureNowCalldata(oracle, digest, oracleSignature)) revert InvalidSignature();

        withdrawalIdOf[withdrawalAddress] = withdrawalId;
        withdrawalAddressOf[withdrawalId] = withdrawalAddress;
        emit WithdrawalRecorded(withdrawalAddress, withdrawalId, params);
    }

    function _hashParams(SubmitWithdrawRequest calldata params) private pure returns (bytes32) {
        return keccak256(
            abi.encode(
                SUBMIT_TYPEHASH,
                params.chainId,
                keccak256(bytes(params.depository)),
                keccak256(bytes(params.currency)),
                params.amount,
                params.spender,
                keccak256(bytes(params.receiver)),
                keccak256(params.data),
                params.nonce
            )
        );
    }

    /// @dev Makes a second initialization of the owner fail.
    function _guardInitializeOwner() internal pure override returns (bool) {
        return true;
    }
}
