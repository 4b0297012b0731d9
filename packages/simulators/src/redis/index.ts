export { startRedisCluster, type Address, type RunningCluster } from "./redis-cluster.ts";
export { startSentinels, type RunningSentinels } from "./sentinels.ts";
