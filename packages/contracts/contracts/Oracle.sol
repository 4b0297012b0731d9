// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {OwnableRoles} from "solady/src/auth/OwnableRoles.sol";

import {Execution} from "./Execution.sol";
import {Hub} from "./Hub.sol";

/// The function of earlier contracts that is used here; every version of the Oracle has it.
interface IExecutedBefore {
    function isExecuted(bytes32 idempotencyKey) external view returns (bool);
}

/// @title Executes on the hub what an oracle has signed, each fact once. Anyone may submit it.
/// @notice An oracle has ORACLE_ROLE and is an account, or a contract that supports EIP-1271 (the
/// OracleMultisig).
/// @dev Calls its own hub, which calls nothing, and makes static calls to a contract oracle and to earlier
/// contracts, so it cannot be reentered. The storage is nevertheless written before the hub is called.
contract Oracle is EIP712, OwnableRoles {
    event Executed(bytes32 indexed idempotencyKey, address indexed oracle);
    /// `executeMultiple` skipped an execution because its fact has already taken effect.
    event ExecutionSkipped(bytes32 indexed idempotencyKey);
    /// An execution in `executeMultiple` failed; `reason` is its revert data. It may be submitted again.
    event ExecutionFailed(bytes32 indexed idempotencyKey, bytes reason);
    event EarlierAdded(address earlier);

    error AddressCannotBeZero();
    error NotAnOracle(address oracle);
    error InvalidSignature();
    error AlreadyExecuted(bytes32 idempotencyKey);
    error NoActions();
    /// The action's length, or one of its addresses, is invalid for its kind.
    error MalformedAction(uint256 index);
    /// This contract does not support actions of this kind.
    error UnsupportedAction(uint256 index, uint256 kind);
    error LengthMismatch(uint256 executions, uint256 signatures);
    /// An earlier contract must have code and must not be this one.
    error NotAContract();
    error TooManyEarlier();

    /// The role of accounts that may sign executions.
    uint256 public constant ORACLE_ROLE = _ROLE_0;

    /// Limited because each is queried before every execution.
    uint256 private constant MAX_EARLIER = 5;

    uint256 private constant MINT = 0;
    uint256 private constant BURN = 1;
    uint256 private constant TRANSFER = 2;

    bytes32 private constant EXECUTION_TYPEHASH = keccak256("Execution(bytes32 idempotencyKey,bytes[] actions)");

    /// The ledger that executions change.
    Hub public immutable HUB;

    mapping(bytes32 idempotencyKey => bool) private _executed;

    /// The predecessors of this contract: what took effect there does not take effect here again.
    IExecutedBefore[] public earlier;

    /// @param name of the EIP-712 domain, "Oracle" unless an existing network says otherwise
    /// @param version of the EIP-712 domain, "1" unless an existing network says otherwise
    constructor(address owner_, Hub hub, string memory name, string memory version) EIP712(name, version) {
        if (owner_ == address(0) || address(hub) == address(0)) revert AddressCannotBeZero();
        _initializeOwner(owner_);
        HUB = hub;
    }

    /// @notice Adds a contract that executed facts before this one. It can never be removed.
    /// @dev Revoke its minter role on the hub first: what it executes later could take effect twice.
    function addEarlier(IExecutedBefore contract_) external onlyOwner {
        if (address(contract_).code.length == 0 || address(contract_) == address(this)) revert NotAContract();
        if (earlier.length == MAX_EARLIER) revert TooManyEarlier();
        earlier.push(contract_);
        emit EarlierAdded(address(contract_));
    }

    /// @notice Whether the fact of an idempotency key has taken effect, here or in an earlier contract.
    function isExecuted(bytes32 idempotencyKey) public view returns (bool) {
        if (_executed[idempotencyKey]) return true;
        for (uint256 i = 0; i < earlier.length; ++i) {
            if (earlier[i].isExecuted(idempotencyKey)) return true;
        }
        return false;
    }

    /// @notice Executes all actions of an execution, or none.
    function execute(Execution calldata execution, address oracle, bytes calldata signature) external {
        _execute(execution, oracle, signature);
    }

    /// @notice Executes each execution independently: a failure is reported in an event and does not stop
    /// the others.
    /// @dev With too little gas, a submitter can make executions fail that would otherwise succeed; they can
    /// be submitted again.
    function executeMultiple(Execution[] calldata executions, address oracle, bytes[] calldata signatures) external {
        if (executions.length != signatures.length) revert LengthMismatch(executions.length, signatures.length);
        for (uint256 i = 0; i < executions.length; ++i) {
            bytes32 key = executions[i].idempotencyKey;
            if (isExecuted(key)) {
                emit ExecutionSkipped(key);
                continue;
            }
            // Calls itself, so that a failing execution is reverted without reverting the others.
            try this.execute(executions[i], oracle, signatures[i]) {}
            catch (bytes memory reason) {
                emit ExecutionFailed(key, reason);
            }
        }
    }

    function _execute(Execution calldata execution, address oracle, bytes calldata signature) private {
        if (!hasAllRoles(oracle, ORACLE_ROLE)) revert NotAnOracle(oracle);
        bytes32 digest = _hashTypedDataV4(_hashExecution(execution));
        if (!SignatureChecker.isValidSignatureNowCalldata(oracle, digest, signature)) revert InvalidSignature();

        bytes32 key = execution.idempotencyKey;
        if (isExecuted(key)) revert AlreadyExecuted(key);
        _executed[key] = true;

        // Without actions, the key would be used up although the fact had no effect.
        if (execution.actions.length == 0) revert NoActions();
        for (uint256 i = 0; i < execution.actions.length; ++i) {
            _apply(execution.actions[i], i);
        }
        emit Executed(key, oracle);
    }

    function _apply(bytes calldata action, uint256 index) private {
        if (action.length < 32) revert MalformedAction(index);
        uint256 kind = _word(action, 0);
        if (kind > TRANSFER) revert UnsupportedAction(index, kind);
        if (action.length != (kind == TRANSFER ? 160 : 128)) revert MalformedAction(index);

        uint256 last = action.length / 32 - 1;
        (uint256 tokenId, uint256 amount) = (_word(action, last - 1), _word(action, last));
        address holder = _address(action, 1, index);
        address to = kind == TRANSFER ? _address(action, 2, index) : address(0);
        if (amount == 0) return;

        if (kind == MINT) HUB.mint(holder, tokenId, amount);
        else if (kind == BURN) HUB.burn(holder, tokenId, amount);
        else HUB.move(holder, to, tokenId, amount);
    }

    function _word(bytes calldata action, uint256 place) private pure returns (uint256) {
        return uint256(bytes32(action[place * 32:place * 32 + 32]));
    }

    function _address(bytes calldata action, uint256 place, uint256 index) private pure returns (address) {
        uint256 word = _word(action, place);
        if (word > type(uint160).max) revert MalformedAction(index);
        return address(uint160(word));
    }

    function _hashExecution(Execution calldata execution) private pure returns (bytes32) {
        uint256 count = execution.actions.length;
        bytes32[] memory actionHashes = new bytes32[](count);
        for (uint256 i = 0; i < count; ++i) {
            actionHashes[i] = keccak256(execution.actions[i]);
        }
        return keccak256(
            abi.encode(
                EXECUTION_TYPEHASH, execution.idempotencyKey, keccak256(abi.encodePacked(actionHashes))
            )
        );
    }

    /// @dev Makes a second initialization of the owner fail.
    function _guardInitializeOwner() internal pure override returns (bool) {
        return true;
    }
}
