// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Ownable} from "solady/src/auth/Ownable.sol";
import {EIP712} from "solady/src/utils/EIP712.sol";
import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";
import {SignatureCheckerLib} from "solady/src/utils/SignatureCheckerLib.sol";

import {Call, CallResult, hashCalls} from "./Call.sol";

struct CallRequest {
    Call[] calls;
    uint256 nonce;
    uint256 expiration;
}

/// @title Holds users' deposits until the allocator signs their payout.
/// @notice Money enters through the deposit functions (or a plain ERC-20 transfer that carries its id after
/// the calldata) and leaves only through `execute`. There is no `receive`: native token sent without an id is
/// refused, because its owner would be unknown.
contract Depository is Ownable, EIP712, ReentrancyGuardTransient {
    event NativeDeposit(address from, uint256 amount, bytes32 id);
    /// `amount` is what arrived, which is less than requested if the token charges a fee.
    event Erc20Deposit(address from, address token, uint256 amount, bytes32 id);
    event CallExecuted(bytes32 id, Call call);
    event AllocatorChanged(address previousAllocator, address newAllocator);

    error AddressCannotBeZero();
    error CallRequestExpired();
    error CallRequestAlreadyUsed();
    error InvalidSignature();
    error CallFailed(bytes returnData);

    bytes32 private constant CALL_REQUEST_TYPEHASH = keccak256(
        "CallRequest(Call[] calls,uint256 nonce,uint256 expiration)"
        "Call(address to,bytes data,uint256 value,bool allowFailure)"
    );

    /// The signer that can release money: an account, or a contract that supports EIP-1271.
    address public allocator;

    /// Whether a request was executed, by its struct hash. The hash has no domain, so a request has the same
    /// id on every chain. The signature covers the digest with the domain, so it is valid only for one
    /// depository on one chain.
    mapping(bytes32 id => bool) public callRequests;

    constructor(address owner_, address allocator_) {
        if (owner_ == address(0)) revert AddressCannotBeZero();
        _initializeOwner(owner_);
        _setAllocator(allocator_);
    }

    function setAllocator(address newAllocator) external onlyOwner {
        _setAllocator(newAllocator);
    }

    /// @param depositor the owner of the deposit; zero means the caller
    function depositNative(address depositor, bytes32 id) external payable nonReentrant {
        emit NativeDeposit(_orCaller(depositor), msg.value, id);
    }

    /// @notice Pulls `amount` of `token` from the caller.
    function depositErc20(address depositor, address token, uint256 amount, bytes32 id) external nonReentrant {
        _depositErc20(depositor, token, amount, id);
    }

    /// @notice Pulls everything the caller has approved to this contract.
    function depositErc20(address depositor, address token, bytes32 id) external nonReentrant {
        _depositErc20(depositor, token, IERC20(token).allowance(msg.sender, address(this)), id);
    }

    /// @notice Makes the calls that the allocator signed, once, in order. Anyone may submit them.
    /// @dev The submitter chooses the gas and can make a call with `allowFailure` fail with too little gas:
    /// never sign such a call if its failure would cost money.
    function execute(CallRequest calldata request, bytes calldata signature)
        external
        nonReentrant
        returns (CallResult[] memory results)
    {
        if (request.expiration < block.timestamp) revert CallRequestExpired();

        bytes32 id = _hashCallRequest(request);
        if (!SignatureCheckerLib.isValidSignatureNowCalldata(allocator, _hashTypedData(id), signature)) {
            revert InvalidSignature();
        }

        if (callRequests[id]) revert CallRequestAlreadyUsed();
        callRequests[id] = true;

        uint256 count = request.calls.length;
        results = new CallResult[](count);
        for (uint256 i = 0; i < count; ++i) {
            Call calldata call = request.calls[i];
            (bool success, bytes memory returnData) = call.to.call{value: call.value}(call.data);
            if (success) {
                emit CallExecuted(id, call);
            } else if (!call.allowFailure) {
                revert CallFailed(returnData);
            }
            results[i] = CallResult(success, returnData);
        }
    }

    /// @dev Because of the lock, the balance grows only by tokens sent here. A sender's hook may send more of
    /// the same token in the meantime; that is a separate deposit (shown by its Transfer event), so at most
    /// `amount` is credited here.
    function _depositErc20(address depositor, address token, uint256 amount, bytes32 id) private {
        uint256 balanceBefore = IERC20(token).balanceOf(address(this));
        SafeTransferLib.safeTransferFrom(token, msg.sender, address(this), amount);
        uint256 received = IERC20(token).balanceOf(address(this)) - balanceBefore;
        emit Erc20Deposit(_orCaller(depositor), token, received < amount ? received : amount, id);
    }

    function _setAllocator(address newAllocator) private {
        if (newAllocator == address(0)) revert AddressCannotBeZero();
        emit AllocatorChanged(allocator, newAllocator);
        allocator = newAllocator;
    }

    function _orCaller(address depositor) private view returns (address) {
        return depositor == address(0) ? msg.sender : depositor;
    }

    function _hashCallRequest(CallRequest calldata request) private pure returns (bytes32) {
        return keccak256(
            abi.encode(CALL_REQUEST_TYPEHASH, hashCalls(request.calls), request.nonce, request.expiration)
        );
    }

    function _domainNameAndVersion() internal pure override returns (string memory name, string memory version) {
        return ("Depository", "1");
    }

    /// @dev Makes a second initialization of the owner fail.
    function _guardInitializeOwner() internal pure override returns (bool) {
        return true;
    }
}
