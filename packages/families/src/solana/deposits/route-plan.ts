/**
 * Reads the route plan of a Jupiter swap from the front, as the program does. The program ignores bytes
 * after its arguments, so numbers at the end of the data prove nothing. Pure.
 */

/**
 * The variants of the IDL's enum `Swap` by tag, ten per paragraph, with the size of their fields in bytes.
 * Add a variant only from the published IDL: a wrong size lets an aggregator hide the true amounts.
 */
const POOLS = `
  Saber SaberAddDecimalsDeposit SaberAddDecimalsWithdraw TokenSwap Sencha Step Cropper Raydium Crema:1 Lifinity

  Mercurial Cykura Serum:1 MarinadeDeposit MarinadeUnstake Aldrin:1 AldrinV2:1 Whirlpool:1 Invariant:1 Meteora

  GooseFX DeltaFi:1 Balansol MarcoPolo:1 Dradex:1 LifinityV2 RaydiumClmm Openbook:1 Phoenix:1 Symmetry:16

  TokenSwapV2 HeliumTreasuryManagementRedeemV0 StakeDexStakeWrappedSol StakeDexSwapViaStake:4 GooseFXV2
  Perps PerpsAddLiquidity PerpsRemoveLiquidity MeteoraDlmm OpenBookV2:1

  RaydiumClmmV2 StakeDexPrefundWithdrawStakeAndDepositStake:4 Clone:3 SanctumS:10 SanctumSAddLiquidity:5
  SanctumSRemoveLiquidity:5 RaydiumCP WhirlpoolSwapV2:bool+slices? OneIntro PumpWrappedBuy

  PumpWrappedSell PerpsV2 PerpsV2AddLiquidity PerpsV2RemoveLiquidity MoonshotWrappedBuy
  MoonshotWrappedSell StabbleStableSwap StabbleWeightedSwap Obric:1 FoxBuyFromEstimatedCost

  FoxClaimPartial:1 SolFi:1 SolayerDelegateNoInit SolayerUndelegateNoInit TokenMill:1
  DaosFunBuy DaosFunSell ZeroFi StakeDexWithdrawWrappedSol VirtualsBuy

  VirtualsSell Perena:2 PumpSwapBuy PumpSwapSell Gamma
  MeteoraDlmmSwapV2:slices Woofi MeteoraDammV2 MeteoraDynamicBondingCurveSwap StabbleStableSwapV2

  StabbleWeightedSwapV2 RaydiumLaunchlabBuy:8 RaydiumLaunchlabSell:8 BoopdotfunWrappedBuy BoopdotfunWrappedSell
  Plasma:1 GoonFi:2 HumidiFi:9 MeteoraDynamicBondingCurveSwapWithRemainingAccounts TesseraV:1

  PumpWrappedBuyV2 PumpWrappedSellV2 PumpSwapBuyV2 PumpSwapSellV2 Heaven:1
  SolFiV2:1 Aquifer PumpWrappedBuyV3 PumpWrappedSellV3 PumpSwapBuyV3

  PumpSwapSellV3 JupiterLendDeposit JupiterLendRedeem DefiTuna:bool+slices? AlphaQ:1
  RaydiumV2 SarosDlmm:1 Futarchy:1 MeteoraDammV2WithRemainingAccounts
`
  .trim()
  .split(/\s+/)
  .map((pool) => pool.split(":")[1] ?? "0");

/** More steps than fit into a transaction with their accounts. */
const MAX_STEPS = 16;
/** After the pool of each step: percent, input index and output index. */
const STEP_BYTES = 3;

/**
 * @returns where the plan ends, possibly beyond the data, or why it cannot be read
 * @throws RangeError if the data ends within the plan
 */
export function readPlan(data: DataView, start: number): number | { readonly refusal: string } {
  const steps = data.getUint32(start, true);
  if (steps < 1 || steps > MAX_STEPS)
    return { refusal: `a route of ${steps} steps, 1 to ${MAX_STEPS} are allowed` };
  let offset = start + 4;
  for (let step = 0; step < steps; step++) {
    const pool = data.getUint8(offset);
    const size = fieldBytes(data, offset + 1, POOLS[pool]);
    if (size === undefined) return { refusal: `a route through an unknown kind of pool, tag ${pool}` };
    offset += 1 + size + STEP_BYTES;
  }
  return offset;
}

function fieldBytes(data: DataView, offset: number, fields: string | undefined): number | undefined {
  if (fields === undefined) return undefined;
  if (fields === "slices") return sliceBytes(data, offset);
  if (fields !== "bool+slices?") return Number(fields);
  const option = data.getUint8(offset + 1);
  return option === 0 ? 2 : option === 1 ? 2 + sliceBytes(data, offset + 2) : undefined;
}

/** The IDL's `RemainingAccountsInfo`: a list of slices of two bytes each. */
function sliceBytes(data: DataView, offset: number): number {
  return 4 + 2 * data.getUint32(offset, true);
}
