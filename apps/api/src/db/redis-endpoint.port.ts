import type { Secret } from "@causeway/config";

export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/** How to sign in to a server. */
export interface RedisLogin {
  readonly username: string | undefined;
  readonly password: Secret | undefined;
}

/** Where Redis is: one server, a primary that sentinels know, or a cluster. */
export type RedisEndpoint =
  | { readonly kind: "url"; readonly url: Secret; readonly login: RedisLogin }
  | {
      readonly kind: "sentinel";
      readonly sentinels: readonly RedisNode[];
      /** Name by which the sentinels know the primary. */
      readonly name: string;
      readonly login: RedisLogin;
      readonly sentinelLogin: RedisLogin;
      readonly isTls: boolean;
    }
  | {
      readonly kind: "cluster";
      /** Some of its nodes; the other nodes are discovered through them. */
      readonly nodes: readonly RedisNode[];
      readonly login: RedisLogin;
      readonly isTls: boolean;
    };

export type SentinelEndpoint = Extract<RedisEndpoint, { readonly kind: "sentinel" }>;
export type ClusterEndpoint = Extract<RedisEndpoint, { readonly kind: "cluster" }>;
