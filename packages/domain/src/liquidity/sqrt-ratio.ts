/**
 * Prices of concentrated liquidity: the square root of token1 per token0 as Q64.96, and the tick that
 * contains it, where a tick is a step of one bp. Source: Uniswap v3 whitepaper 6.1, with the rounding of the
 * deployed pools.
 */

/** Lowest and highest tick that a pool can be at. */
export const MIN_TICK = -887_272;
export const MAX_TICK = 887_272;
/** {@link sqrtRatioAtTick} of the lowest and highest tick. */
export const MIN_SQRT_RATIO = 4_295_128_739n;
export const MAX_SQRT_RATIO = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342n;

/** sqrt(1.0001) to the power of -(2^i) as Q128.128, as the deployed contracts round it. */
const POWERS = [
  0xfffcb933bd6fad37aa2d162d1a594001n,
  0xfff97272373d413259a46990580e213an,
  0xfff2e50f5f656932ef12357cf3c7fdccn,
  0xffe5caca7e10e4e61c3624eaa0941cd0n,
  0xffcb9843d60f6159c9db58835c926644n,
  0xff973b41fa98c081472e6896dfb254c0n,
  0xff2ea16466c96a3843ec78b326b52861n,
  0xfe5dee046a99a2a811c461f1969c3053n,
  0xfcbe86c7900a88aedcffc83b479aa3a4n,
  0xf987a7253ac413176f2b074cf7815e54n,
  0xf3392b0822b70005940c7a398e4b70f3n,
  0xe7159475a2c29b7443b29c7fa6e889d9n,
  0xd097f3bdfd2022b8845ad8f792aa5825n,
  0xa9f746462d870fdf8a65dc1f90e061e5n,
  0x70d869a156d2a1b890bb3df62baf32f7n,
  0x31be135f97d08fd981231505542fcfa6n,
  0x9aa508b5b7a84e1c677de54f3e99bc9n,
  0x5d6af8dedb81196699c329225ee604n,
  0x2216e584f5fa1ea926041bedfe98n,
  0x48a170391f7dc42444e8fa2n,
] as const;

/**
 * Maximum number of cached ratios. Swaps reuse the same ticks, and their ratios dominate a swap's cost.
 */
const MAX_CACHED = 16_384;
const cache = new Map<number, bigint>();

/** {@link sqrtRatioAtTick}, cached. */
export function cachedSqrtRatio(tick: number): bigint {
  const cached = cache.get(tick);
  if (cached !== undefined) return cached;
  const ratio = sqrtRatioAtTick(tick);
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(tick, ratio);
  return ratio;
}

const ONE_Q128 = 1n << 128n;
const MAX_UINT256 = (1n << 256n) - 1n;
/** 2^32 - 1: the low 32 bits of a Q128.128 fraction, which Q64.96 cannot represent. */
const LOST_BITS = 0xffffffffn;

/**
 * sqrt(1.0001^tick) as Q64.96, rounded up from the Q128.128 product.
 * @throws RangeError for an invalid tick
 */
export function sqrtRatioAtTick(tick: number): bigint {
  const distance = Math.abs(tick);
  if (!Number.isInteger(tick) || distance > MAX_TICK)
    throw new RangeError(`tick must be from -${MAX_TICK} to ${MAX_TICK}, got ${tick}`);
  let ratio = ONE_Q128;
  for (let bit = 0; distance >> bit !== 0; bit++) {
    if (((distance >> bit) & 1) === 1) ratio = (ratio * (POWERS[bit] as bigint)) >> 128n;
  }
  // The powers are negative, so a positive tick needs the inverse of their product.
  if (tick > 0) ratio = MAX_UINT256 / ratio;
  return (ratio >> 32n) + ((ratio & LOST_BITS) === 0n ? 0n : 1n);
}

const LOG2_OF_HALF_A_TICK = Math.log2(1.0001) / 2;

/**
 * The highest tick whose ratio is not above `sqrtRatio`.
 * @param sqrtRatio from {@link MIN_SQRT_RATIO} to just below {@link MAX_SQRT_RATIO}
 * @throws RangeError outside that range
 */
export function tickAtSqrtRatio(sqrtRatio: bigint): number {
  if (sqrtRatio < MIN_SQRT_RATIO || sqrtRatio >= MAX_SQRT_RATIO)
    throw new RangeError(`sqrtRatio is outside the range of Uniswap pools: ${sqrtRatio}`);
  // The estimate is off by far less than a tick, so checking its neighbors makes it exact.
  const excess = BigInt(Math.max(0, sqrtRatio.toString(2).length - 53));
  const log2 = Math.log2(Number(sqrtRatio >> excess)) + Number(excess) - 96;
  let tick = Math.min(MAX_TICK - 1, Math.max(MIN_TICK, Math.floor(log2 / LOG2_OF_HALF_A_TICK)));
  while (sqrtRatioAtTick(tick) > sqrtRatio) tick--;
  while (sqrtRatioAtTick(tick + 1) <= sqrtRatio) tick++;
  return tick;
}
