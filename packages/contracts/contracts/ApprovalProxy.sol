// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";

import {Call, CallResult} from "./Call.sol";
import {IERC3009} from "./IERC3009.sol";
import {IPermit2, PermitBatchTransferFrom, SignatureTransferDetails} from "./IPermit2.sol";
import {hashRouteWitness, RouteWitness} from "./RouteWitness.sol";
import {Router} from "./Router.sol";

/// What a user signed for a token with EIP-3009, without the payee (the ApprovalProxy) and the nonce.
struct Authorization {
    address token;
    address from;
    uint256 value;
    /// Unix seconds, like `validBefore`; both ends are exclusive.
    uint256 validAfter;
    uint256 validBefore;
    uint8 v;
    bytes32 r;
    bytes32 s;
}

/// @title The only contract to which users approve tokens for routing.
/// @notice It can only move the caller's own tokens, or those of an owner who signed what happens to them,
/// and only to the Router within the same call. Therefore neither an approval to it nor a signature is
/// useful to anyone else.
contract ApprovalProxy is ReentrancyGuardTransient {
    error AddressCannotBeZero();
    /// The signed route may be submitted only by `relayer`.
    error WrongRelayer(address relayer, address caller);

    IPermit2 public constant permit2 = IPermit2(0x000000000022D473030F116dDEE9F6B43aC78BA3);

    /// Permit2 appends this to its own type string: the witness field, then all referenced types in
    /// alphabetical order.
    string private constant WITNESS_TYPE_STRING = "RouteWitness witness)"
        "Call(address to,bytes data,uint256 value,bool allowFailure)"
        "RouteWitness(address relayer,address refundTo,address[] refundTokens,Call[] calls)"
        "TokenPermissions(address token,uint256 amount)";

    Router public immutable router;

    constructor(Router router_) {
        if (address(router_) == address(0)) revert AddressCannotBeZero();
        router = router_;
    }

    /// @notice Pulls `amount` of `token` from the caller into the Router, which then makes `calls`.
    /// @dev The remainders of native, `token` and `refundTokens` go to `refundTo`; zero means the caller. A
    /// token that calls its receiver (ERC-777) must not be routed: the Router is not locked during the pull.
    function pullAndRoute(
        address token,
        uint256 amount,
        Call[] calldata calls,
        address refundTo,
        address[] calldata refundTokens
    ) external payable nonReentrant returns (CallResult[] memory) {
        SafeTransferLib.safeTransferFrom(token, msg.sender, address(router), amount);
        address[] memory leftovers = _append(refundTokens, token);
        // The Router would refund its caller, this contract, which must never receive the remainder.
        return _route(calls, refundTo == address(0) ? msg.sender : refundTo, leftovers);
    }

    /// @notice Moves everything that `owner` permitted through Permit2 to the Router, which then makes the
    /// calls that `owner` signed with it (EIP-712 `PermitBatchWitnessTransferFrom` with a `RouteWitness`,
    /// spender: this contract).
    /// @dev The remainders of native, the permitted tokens and `refundTokens` go to `refundTo`; zero means
    /// `owner`. The submitter controls only the gas and the value, but can thereby make a call with
    /// `allowFailure` fail: never ask a user to sign such a call if its failure would cost money. Always
    /// moves the full permitted amounts. If a token charges a transfer fee, less arrives, and the calls must
    /// check for that. Do not permit a hostile token, or a token that calls its receiver, together with other
    /// tokens: the Router is not locked while they arrive.
    function permit2Route(
        address owner,
        PermitBatchTransferFrom calldata permit,
        RouteWitness calldata witness,
        bytes calldata signature
    ) external payable nonReentrant returns (CallResult[] memory) {
        _requireRelayer(witness.relayer);
        uint256 count = permit.permitted.length;
        SignatureTransferDetails[] memory details = new SignatureTransferDetails[](count);
        address[] memory leftovers = _copyOf(witness.refundTokens, count);
        for (uint256 i = 0; i < count; ++i) {
            details[i] = SignatureTransferDetails(address(router), permit.permitted[i].amount);
            leftovers[witness.refundTokens.length + i] = permit.permitted[i].token;
        }
        permit2.permitWitnessTransferFrom(
            permit, details, owner, hashRouteWitness(witness), WITNESS_TYPE_STRING, signature
        );
        return _route(witness.calls, witness.refundTo == address(0) ? owner : witness.refundTo, leftovers);
    }

    /// @notice Moves what was authorized with EIP-3009 (`ReceiveWithAuthorization`, payee: this contract) to
    /// the Router, which then makes the calls to which the nonce binds the authorization, see
    /// `authorizationNonce`.
    /// @dev Remainders and failing calls: as in `permit2Route`. The token must transfer the full value.
    function authorizationRoute(Authorization calldata authorization, RouteWitness calldata witness)
        external
        payable
        nonReentrant
        returns (CallResult[] memory)
    {
        _requireRelayer(witness.relayer);
        _receive(authorization, authorizationNonce(authorization, witness));
        // Transfers the signed value, not what the token reports: if a token accepted the call but moved
        // nothing, this fails.
        SafeTransferLib.safeTransfer(authorization.token, address(router), authorization.value);
        address[] memory leftovers = _append(witness.refundTokens, authorization.token);
        address refundTo = witness.refundTo == address(0) ? authorization.from : witness.refundTo;
        return _route(witness.calls, refundTo, leftovers);
    }

    /// @notice The nonce with which an authorization must be signed, so that it is valid only for this route:
    /// keccak256(abi.encode(EIP-712 struct hash of the witness, token, from, value, validAfter,
    /// validBefore)).
    /// @dev Two identical routes have the same nonce, so only one can be executed; change `validBefore` by a
    /// second to execute both. The signature itself is not part of the nonce.
    function authorizationNonce(Authorization calldata authorization, RouteWitness calldata witness)
        public
        pure
        returns (bytes32)
    {
        return keccak256(
            abi.encode(
                hashRouteWitness(witness),
                authorization.token,
                authorization.from,
                authorization.value,
                authorization.validAfter,
                authorization.validBefore
            )
        );
    }

    function _receive(Authorization calldata authorization, bytes32 nonce) private {
        IERC3009(authorization.token).receiveWithAuthorization(
            authorization.from,
            address(this),
            authorization.value,
            authorization.validAfter,
            authorization.validBefore,
            nonce,
            authorization.v,
            authorization.r,
            authorization.s
        );
    }

    function _requireRelayer(address relayer) private view {
        if (relayer != address(0) && relayer != msg.sender) revert WrongRelayer(relayer, msg.sender);
    }

    function _route(Call[] calldata calls, address refundTo, address[] memory leftovers)
        private
        returns (CallResult[] memory)
    {
        return router.multicall{value: msg.value}(calls, refundTo, leftovers);
    }

    function _append(address[] calldata tokens, address token) private pure returns (address[] memory all) {
        all = _copyOf(tokens, 1);
        all[tokens.length] = token;
    }

    /// A copy with `more` free elements at its end.
    function _copyOf(address[] calldata tokens, uint256 more) private pure returns (address[] memory all) {
        all = new address[](tokens.length + more);
        for (uint256 i = 0; i < tokens.length; ++i) {
            all[i] = tokens[i];
        }
    }
}
